package org.jrdma.tck.sisci;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sisci.smartio.AccessHint;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowableDevice;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceFilter;
import org.jrdma.sisci.smartio.DeviceSegmentOptions;
import org.jrdma.sisci.smartio.DeviceSegmentSharing;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests devices that this node and another node borrow from a third node. */
class BorrowedDeviceTest extends AbstractMultiNodeTest {

    private static final int CLOSING_ROUNDS = 10;
    private static final int PATTERN = 0x5eed;

    private FabricUnderTest.Lender lender;
    private SmartIo smartIo;
    private long id;

    @BeforeEach
    void lend() throws Exception {
        lender = fabric.lender();
        id = lender.lend();
        smartIo = SmartIo.of(node);
    }

    @Override
    @AfterEach
    void close() throws Exception {
        try {
            super.close();
        } finally {
            lender.withdraw(id);
        }
    }

    private BorrowedDevice borrow() throws Exception {
        return smartIo.borrow(id, BorrowMode.SHARED);
    }

    private void peerBorrows(BorrowMode mode) throws Exception {
        var device = id;
        peer.run(context -> context.put("device", SmartIo.of(context.node()).borrow(device, mode)));
    }

    private LocalSegment preparedSegment() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.prepare();
        return segment;
    }

    private static LocalMap filledMap(LocalSegment segment, int value) throws Exception {
        var map = segment.map();
        for (var offset = 0; offset < BYTES; offset += Integer.BYTES) {
            map.putInt(offset, value);
        }
        return map;
    }

    @Test
    void shouldListTheDevicesThatMatchAFilter() throws Exception {
        var device = new BorrowableDevice(id);
        var filter =
                DeviceFilter.ANY
                        .vendor(EduDriver.VENDOR)
                        .device(EduDriver.DEVICE)
                        .classCode(EduDriver.CLASS_CODE);

        assertThat(smartIo.devices()).contains(device).doesNotHaveDuplicates();
        assertThat(smartIo.devices(filter)).contains(device);
        assertThat(smartIo.devices(filter.vendor(0x4321))).doesNotContain(device);
        assertThat(smartIo.devices(filter.device(0x11e9))).doesNotContain(device);
        assertThat(smartIo.devices(filter.classCode(0x010802))).doesNotContain(device);

        lender.withdraw(id);

        assertThat(smartIo.devices()).doesNotContain(device);
    }

    /** The code of the error is not public, so a library may not export it. */
    @Test
    void shouldRejectADeviceThatNoNodeLends() throws Exception {
        lender.withdraw(id);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(this::borrow)
                .extracting(SisciException::error)
                .isIn(SisciError.NO_SUCH_DEVICE, SisciError.UNKNOWN);
    }

    @Test
    void shouldLendADeviceToSeveralNodes() throws Exception {
        peerBorrows(BorrowMode.SHARED);

        var device = borrow();

        assertThat(device.id()).isEqualTo(id);
        assertFails(SisciError.BUSY, () -> smartIo.borrow(id, BorrowMode.EXCLUSIVE));
    }

    @Test
    void shouldLendADeviceToOneNodeIfExclusive() throws Exception {
        peerBorrows(BorrowMode.EXCLUSIVE);

        assertFails(SisciError.BUSY, this::borrow);
        assertFails(SisciError.BUSY, () -> smartIo.borrow(id, BorrowMode.EXCLUSIVE));
        peer.run(context -> context.get("device", BorrowedDevice.class).close());
        smartIo.borrow(id, BorrowMode.EXCLUSIVE).close();
    }

    @Test
    void shouldReturnADeviceOnlyOnce() throws Exception {
        var first = borrow();
        var second = borrow();
        first.close();
        first.close();

        assertThat(new EduDriver(second).identification()).isEqualTo(0x010000ed);
        assertFails(SisciError.BUSY, () -> smartIo.borrow(id, BorrowMode.EXCLUSIVE));
        assertThatIllegalStateException().isThrownBy(() -> first.bar(0));
    }

    @Test
    void shouldAccessRegisters() throws Exception {
        var edu = new EduDriver(borrow());

        assertThat(edu.identification()).isEqualTo(0x010000ed);
        assertThat(edu.factorial(10)).isEqualTo(3_628_800);
    }

    @Test
    void shouldRejectABarThatDoesNotExist() throws Exception {
        var device = borrow();

        assertThatExceptionOfType(SisciException.class).isThrownBy(() -> device.bar(3));
    }

    @Test
    void shouldAccessAMappedLocalSegmentByDma() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var map = filledMap(segment, PATTERN);
        var mapping = device.map(segment);
        assertThat(mapping.byteSize()).isEqualTo(BYTES);

        assertThat(edu.load(mapping.ioAddress(), 4096)).isTrue();
        assertThat(edu.store(mapping.ioAddress() + 8192 + 4, 1000)).isTrue();

        map.putInt(0, 1);
        assertThat(edu.load(mapping.ioAddress(), 4)).isTrue();
        assertThat(edu.store(mapping.ioAddress() + BYTES - 4, 4)).isTrue();
        assertThat(map.getInt(8192)).isEqualTo(PATTERN);
        assertThat(map.getInt(8196 + 996)).isEqualTo(PATTERN);
        assertThat(map.getInt(BYTES - 4)).isEqualTo(1);
    }

    @Test
    void shouldRefuseDmaOutsideAMappingAndLeaveTheMemoryUntouched() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var map = filledMap(segment, PATTERN);
        var mapping = device.map(segment, 8192, 4096);

        assertThat(edu.store(mapping.ioAddress() - 4, 8)).isFalse();
        assertThat(edu.store(mapping.ioAddress() + 4092, 8)).isFalse();
        assertThat(edu.load(mapping.ioAddress() + 4096, 4)).isFalse();
        assertThat(edu.store(0, 4)).isFalse();
        assertThat(edu.store(-8, 16)).isFalse();

        assertThat(map.segment().toArray(JAVA_INT)).containsOnly(PATTERN);
        assertThat(edu.store(mapping.ioAddress(), 4096)).isTrue();
        assertThat(map.getInt(8188)).isEqualTo(PATTERN);
        assertThat(map.getInt(8192)).isZero();
        assertThat(map.getInt(12288)).isEqualTo(PATTERN);
    }

    @Test
    void shouldRefuseDmaAfterAMappingWasClosed() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var map = filledMap(segment, PATTERN);
        var mapping = device.map(segment);
        mapping.close();

        assertThat(edu.store(mapping.ioAddress(), 8)).isFalse();
        assertThat(map.getInt(0)).isEqualTo(PATTERN);
        var again = device.map(segment);
        assertThat(again.ioAddress()).isNotEqualTo(mapping.ioAddress());
        assertThat(edu.store(mapping.ioAddress(), 8)).isFalse();
        assertThat(edu.store(again.ioAddress(), 8)).isTrue();
        assertThat(map.getInt(0)).isZero();
    }

    @Test
    void shouldRefuseDmaAfterTheSegmentWasClosed() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var mapping = device.map(segment);

        segment.close();

        assertThat(mapping.isOpen()).isFalse();
        assertThat(edu.store(mapping.ioAddress(), 8)).isFalse();
        assertThat(edu.factorial(4)).isEqualTo(24);
    }

    @Test
    void shouldAccessTheMemoryOfAnotherNodeByDma() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        peer.run(context -> context.offer(SEGMENT, BYTES).putInt(64, PATTERN));
        var mapping = device.map(node.connect(peer.node(), SEGMENT, TIMEOUT));

        assertThat(edu.load(mapping.ioAddress() + 64, 4)).isTrue();
        assertThat(edu.store(mapping.ioAddress() + 128, 4)).isTrue();

        peer.run(context -> assertThat(context.memory(SEGMENT).getInt(128)).isEqualTo(PATTERN));
    }

    @Test
    void shouldRejectASecondMappingOfASegment() throws Exception {
        var device = borrow();
        var segment = preparedSegment();
        assertThat(device.map(segment, 0, 4096).isOpen()).isTrue();

        assertFails(SisciError.BUSY, () -> device.map(segment, 4096, 4096));
        assertThat(borrow().map(segment).isOpen()).isTrue();
    }

    @Test
    void shouldRejectASegmentThatIsNotPrepared() throws Exception {
        var device = borrow();
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).asPrivate());

        assertFails(SisciError.SEGMENT_NOT_PREPARED, () -> device.map(segment));
        segment.prepare();
        assertThat(device.map(segment).isOpen()).isTrue();
    }

    @Test
    void shouldUseAPrivateDeviceSegment() throws Exception {
        var device = borrow();
        var segment =
                device.newDeviceSegment(
                        DeviceSegmentOptions.of(12, 8192)
                                .access(AccessHint.DEVICE_WRITE, AccessHint.HOST_READ));
        var map = segment.map();
        map.putLong(4096, 42);
        map.flush();
        var edu = new EduDriver(device);
        var mapping = device.map(segment);

        assertThat(edu.load(mapping.ioAddress() + 4096, 8)).isTrue();
        assertThat(edu.store(mapping.ioAddress(), 8)).isTrue();

        eventually(() -> map.getLong(0) == 42); // a map in weak memory shows changes later
        assertThat(segment.byteSize()).isEqualTo(8192);
    }

    @Test
    void shouldNotConnectToAPrivateSegmentOfAnotherBorrow() throws Exception {
        var device = borrow();
        var _ = device.newDeviceSegment(DeviceSegmentOptions.of(12, 4096));
        var other = borrow();

        assertFails(
                SisciError.NO_SUCH_SEGMENT,
                () -> other.connectDeviceSegment(12, DeviceSegmentSharing.PRIVATE));
        assertFails(
                SisciError.NO_SUCH_SEGMENT,
                () -> other.connectDeviceSegment(12, DeviceSegmentSharing.SHARED));
        assertThat(device.connectDeviceSegment(12, DeviceSegmentSharing.PRIVATE).isOpen()).isTrue();
    }

    @Test
    void shouldShareADeviceSegmentWithOtherBorrowers() throws Exception {
        peerBorrows(BorrowMode.SHARED);
        peer.run(context -> {
            var segment =
                    context.get("device", BorrowedDevice.class)
                            .newDeviceSegment(
                                    DeviceSegmentOptions.of(12, 4096)
                                            .sharing(DeviceSegmentSharing.SHARED));
            context.put("map", segment.map()).putLongRelease(8, 42);
        });
        peer.run(context -> context.get("map", RemoteMap.class).flush());

        var map = borrow().connectDeviceSegment(12, DeviceSegmentSharing.SHARED).map();
        assertThat(map.getLong(8)).isEqualTo(42);

        peer.reset(); // This node is now the last borrower.
        map.putLong(8, 43);
        assertThat(map.getLong(8)).isEqualTo(43);
    }

    @Test
    void shouldRejectAUsedIdOfADeviceSegment() throws Exception {
        var device = borrow();
        var _ = device.newDeviceSegment(DeviceSegmentOptions.of(12, 4096));

        assertFails(
                SisciError.SEGMENT_ID_USED,
                () -> device.newDeviceSegment(DeviceSegmentOptions.of(12, 4096)));
    }

    @Test
    void shouldDeliverInterruptsToAnInterruptFlag() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var flag = segment.newInterruptFlag(64, false);
        edu.signalAt(device.map(segment).ioAddress() + 64, 7);

        edu.raiseInterrupt();
        flag.await(TIMEOUT);
        edu.raiseInterrupt();
        flag.await(TIMEOUT);

        assertThat(segment.map().getInt(64)).isEqualTo(7);
    }

    @Test
    void shouldNotDeliverInterruptsThatAreNotMapped() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var segment = preparedSegment();
        var flag = segment.newInterruptFlag(64, false);
        var mapping = device.map(segment);
        edu.signalAt(mapping.ioAddress() + 64, 7);
        mapping.close();

        edu.raiseInterrupt();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> flag.await(ofMillis(50)));
        assertThat(edu.factorial(3)).isEqualTo(6);
    }

    @Test
    void shouldReportTheLossOfAWithdrawnDevice() throws Exception {
        var device = borrow();
        var edu = new EduDriver(device);
        var bar = device.bar(0);
        var segment = preparedSegment();
        assertThat(device.map(segment).isOpen()).isTrue();

        lender.withdraw(id);

        assertThat(bar.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.LOST);
        assertThat(bar.link()).isEqualTo(RemoteSegment.Link.LOST);
        assertThat(edu.registers().get(JAVA_INT, 0)).isEqualTo(-1);
        assertFails(SisciError.NOT_AVAILABLE, () -> device.bar(0));
        assertFails(
                SisciError.NOT_AVAILABLE,
                () -> device.newDeviceSegment(DeviceSegmentOptions.of(1, 4096)));
        device.close();
        segment.close();
    }

    @Test
    void shouldRefuseDmaWhileTheLinkIsCut() throws Exception {
        var cable = fabric.cable();
        peerBorrows(BorrowMode.SHARED);
        var segment = preparedSegment();
        var map = filledMap(segment, PATTERN);
        var address = borrow().map(segment).ioAddress();
        PeerTask<Boolean> store =
                context ->
                        new EduDriver(context.get("device", BorrowedDevice.class))
                                .store(address, 8);

        cable.cut();
        try {
            assertThat(peer.call(store)).isFalse();
            assertThat(map.getInt(0)).isEqualTo(PATTERN);
        } finally {
            cable.restore();
        }

        assertThat(peer.call(store)).isTrue();
        assertThat(map.getInt(0)).isZero();
    }

    @Test
    void shouldRejectConcurrentCallsOfOtherThreads() throws Exception {
        for (var round = 0; round < CLOSING_ROUNDS; round++) {
            var own = fabric.sisci().open();
            var device = SmartIo.of(own).borrow(id, BorrowMode.SHARED);
            var segment = own.newSegment(SEGMENT, BYTES);
            segment.prepare();
            var edu = new EduDriver(device);
            var uses =
                    List.<ConcurrentCloseTest.Use>of(
                            edu::identification,
                            () -> device.bar(0).map().close(),
                            () -> device.map(segment).close());
            var running = new ArrayList<CompletableFuture<Void>>();
            var started = new CountDownLatch(uses.size());
            uses.forEach(use -> running.add(ConcurrentCloseTest.repeat(use, started)));
            started.await();

            List.of(own, device, segment).get(round % 3).close();
            own.close();

            for (var use : running) {
                assertThatIllegalStateException()
                        .isThrownBy(() -> {
                            try {
                                use.join();
                            } catch (CompletionException e) {
                                throw e.getCause();
                            }
                        });
            }
        }
    }
}
