package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.BorrowedDevice;
import org.jrdma.sisci.smartio.DeviceMapping;
import org.jrdma.sisci.smartio.DeviceSegmentOptions;
import org.jrdma.sisci.smartio.SmartIo;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests that borrowed devices and their segments and mappings can be closed in any order. The
 * library returns BUSY if the order of its calls is wrong.
 */
@Timeout(30)
class BorrowedDeviceClosingTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final long ID = 0x801;
    private static final int ROUNDS = 50;

    private FakeLibrary library;
    private Node node;
    private BorrowedDevice device;
    private LocalSegment segment;
    private RemoteSegment remote;
    private RemoteSegment deviceSegment;
    private List<DeviceMapping> mappings;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
        device = SmartIo.of(node).borrow(ID, BorrowMode.EXCLUSIVE);
        segment = node.newSegment(7, 4096);
        segment.offer();
        remote = node.connect(4, 7, TIMEOUT);
        deviceSegment = device.newDeviceSegment(DeviceSegmentOptions.of(12, 4096));
        mappings = List.of(device.map(segment), device.map(remote), device.map(deviceSegment));
        device.bar(0).map().putLong(0, 1);
    }

    @AfterEach
    void close() {
        node.close();
    }

    private void assertEverythingWasRemovedAtOnce() {
        node.close();
        assertThat(library.calls("SCIUnmapLocalSegmentForDevice")).isOne();
        assertThat(library.calls("SCIUnmapRemoteSegmentForDevice")).isEqualTo(2);
        assertThat(library.calls("SCIDisconnectSegment")).isEqualTo(3);
        assertThat(library.calls("SCIUnmapSegment")).isOne();
        assertThat(library.calls("SCIReturnDevice")).isOne();
        assertThat(library.calls("SCIRemoveSegment")).isOne();
        assertThat(library.calls("SCIClose")).isOne();
    }

    @Test
    void shouldCloseMappingsAndSegmentsBeforeTheDevice() {
        device.close();

        assertThat(mappings).noneMatch(DeviceMapping::isOpen);
        assertThat(deviceSegment.isOpen()).isFalse();
        assertThat(segment.isOpen()).isTrue();
        assertThat(remote.isOpen()).isTrue();
        assertThat(library.calls("SCIReturnDevice")).isOne();
        assertEverythingWasRemovedAtOnce();
    }

    @Test
    void shouldCloseTheMappingsOfASegmentBeforeTheSegment() {
        remote.close();
        segment.close();
        deviceSegment.close();

        assertThat(mappings).noneMatch(DeviceMapping::isOpen);
        assertThat(device.isOpen()).isTrue();
        assertEverythingWasRemovedAtOnce();
    }

    @Test
    void shouldCloseEverythingWithTheNode() {
        assertEverythingWasRemovedAtOnce();
    }

    @Test
    void shouldReturnADeviceOnlyOnce() {
        device.close();
        device.close();
        mappings.forEach(DeviceMapping::close);

        assertThat(library.calls("SCIReturnDevice")).isOne();
    }

    @Test
    void shouldRejectTheUseOfClosedObjects() throws Exception {
        var closed = node.newSegment(9, 4096);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> device.map(closed));
        device.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> device.map(segment))
                .withMessage("device 0x801 borrowed by node 4 is closed");
        assertThatIllegalStateException().isThrownBy(() -> device.bar(0));
        assertThatIllegalStateException()
                .isThrownBy(() -> device.newDeviceSegment(DeviceSegmentOptions.of(1, 4096)));
        var smartIo = SmartIo.of(node);
        node.close();
        assertThatIllegalStateException().isThrownBy(smartIo::devices);
        assertThatIllegalStateException().isThrownBy(() -> smartIo.borrow(ID, BorrowMode.SHARED));
    }

    @Test
    void shouldRetryWhileTheLibraryReturnsBusy() {
        library.fail("SCIReturnDevice", sisci_h.SCI_ERR_BUSY(), 3);
        library.fail("SCIUnmapLocalSegmentForDevice", sisci_h.SCI_ERR_BUSY(), 2);

        device.close();

        assertThat(library.calls("SCIReturnDevice")).isEqualTo(4);
        assertThat(library.calls("SCIUnmapLocalSegmentForDevice")).isEqualTo(3);
    }

    /** The node retries the removals of segments before the removal of the device. */
    @Test
    void shouldReturnADeviceWhoseSegmentsCouldNotBeDisconnectedBefore() {
        library.fail("SCIDisconnectSegment", sisci_h.SCI_ERR_BUSY(), 2);

        deviceSegment.close(Duration.ZERO);
        device.close(Duration.ZERO);
        node.close(Duration.ZERO);

        assertThat(library.calls("SCIDisconnectSegment")).isEqualTo(5);
        assertThat(library.calls("SCIReturnDevice")).isEqualTo(2);
        assertThat(library.calls("SCIClose")).isOne();
    }

    /**
     * The unmap function identifies the mapping by the handle of the segment. It must not be called
     * after the library has removed the segment.
     */
    @Test
    void shouldNotUnmapAfterTheSegmentWasRemoved() {
        library.fail("SCIUnmapRemoteSegmentForDevice", sisci_h.SCI_ERR_NOT_AVAILABLE(), 1);

        mappings.get(1).close();
        remote.close(Duration.ZERO);
        device.close(Duration.ZERO);
        segment.close(Duration.ZERO);
        node.close(Duration.ZERO);

        assertThat(library.calls("SCIUnmapRemoteSegmentForDevice")).isEqualTo(2);
    }

    @Test
    void shouldRejectConcurrentCallsOfOtherThreads() throws Exception {
        node.close();
        for (var round = 0; round < ROUNDS; round++) {
            var ownNode = library.sisci.open();
            var ownDevice = SmartIo.of(ownNode).borrow(ID, BorrowMode.SHARED);
            var ownSegment = ownNode.newSegment(7, 4096);
            ownSegment.prepare();
            try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
                var uses =
                        List.<Use>of(
                                () -> ownDevice.bar(0).close(),
                                () -> ownDevice.map(ownSegment).close());
                var started = new CountDownLatch(uses.size());
                var running = new ArrayList<Future<Object>>();
                for (var use : uses) {
                    running.add(threads.submit(() -> repeat(use, started)));
                }
                started.await();

                List.of(ownNode, ownDevice, ownSegment).get(round % 3).close();
                ownNode.close();

                for (var end : running) {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> {
                                try {
                                    end.get();
                                } catch (ExecutionException e) {
                                    throw e.getCause();
                                }
                            });
                }
            }
        }
        assertThat(library.calls("SCITerminate")).isEqualTo(ROUNDS + 1);
    }

    private interface Use {
        void use() throws Exception;
    }

    /** Repeats a call until it throws. */
    private static Object repeat(Use use, CountDownLatch started) throws Exception {
        use.use();
        started.countDown();
        while (true) {
            use.use();
        }
    }
}
