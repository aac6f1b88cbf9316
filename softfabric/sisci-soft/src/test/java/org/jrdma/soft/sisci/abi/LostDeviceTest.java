package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;
import static org.jrdma.soft.sisci.abi.ThreeNodes.eventually;
import static org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent.Kind.BORROWED;
import static org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent.Kind.RETURNED;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.device.DeviceBorrowedOrReturnedEvent;
import org.jrdma.soft.sisci.device.DeviceIdentity;
import org.jrdma.soft.sisci.device.DeviceModel;
import org.jrdma.soft.sisci.device.EduDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of devices whose lender, borrower or link fails. */
@Timeout(60)
class LostDeviceTest {

    private static final int PRIVATE = SCI_MEMTYPE_PRIVATE();

    private final ScriptedDevice model = new ScriptedDevice(0x1234, 0x11, "first");
    private ThreeNodes nodes;
    private LentDevice lent;
    private long id;
    private DeviceFunctionCaller second;

    @BeforeEach
    void lend() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
        lent = nodes.first.fabric().lend(model);
        id = lent.fabricDeviceId();
        second = new DeviceFunctionCaller(nodes.second, nodes.secondDescriptor);
    }

    @AfterEach
    void leaveAndVerifyThatNoFileRemains() throws Exception {
        nodes.close();
    }

    @Test
    void shouldRefuseAccessesToABorrowerWhileItsLinkIsCut() throws Exception {
        var device = second.borrow(id, 0);
        var bar = second.bar(device, 0, 4096);
        var segment = second.prepare(9, BYTES);
        var own = nodes.second.mapLocal(segment, BYTES).memory();
        var address = second.mapLocal(segment, device, 0, BYTES);
        assertThat(second.create(device, 1, 4096, PRIVATE)).isEqualTo("OK");
        var nearby = second.mapRemote(second.connect(device, 1, PRIVATE), device, 0, 4096);

        nodes.second.fabric().cutLink(0);

        assertThat(model.write(address, 1)).isFalse();
        assertThat(model.read(address)).isEqualTo(-1);
        assertThat(model.signal(address, 1)).isFalse();
        assertThat(model.write(nearby, 1)).isTrue();
        assertThat(lent.refusedAccesses()).isEqualTo(3);
        assertThat(own.get(JAVA_LONG, 0)).isZero();
        assertThat(bar.get(JAVA_INT, 0)).isEqualTo(-1);
        var other = second.prepare(10, BYTES);
        assertThat(second.mapLocalError(other, device, 0, BYTES)).isEqualTo("NO_LINK_ACCESS");
        assertThat(second.borrowError(id, 0)).isEqualTo("NO_LINK_ACCESS");
        assertThat(second.create(device, 2, 4096, PRIVATE)).isEqualTo("NO_LINK_ACCESS");
        assertThat(second.connectError(device, 1, PRIVATE)).isEqualTo("NO_LINK_ACCESS");
        nodes.second.fabric().restoreLink(0);
        assertThat(model.write(address, 2)).isTrue();
        assertThat(own.get(JAVA_LONG, 0)).isEqualTo(2);
        assertThat(bar.get(JAVA_INT, 0)).isZero();
    }

    @Test
    void shouldEndTheBorrowsOfAProcessThatLeaves() throws Exception {
        var program = LibraryCaller.in(SoftSisciOptions.in(nodes.folder));
        var leaving = new DeviceFunctionCaller(program, program.open());
        var device = leaving.borrow(id, SCI_FLAG_EXCLUSIVE());
        assertThat(leaving.create(device, 1, 4096, PRIVATE)).isEqualTo("OK");
        leaving.mapLocal(leaving.prepare(9, BYTES), device, 0, BYTES);
        assertThat(deviceSegments()).hasSize(1);

        program.close();

        eventually(() -> lent.borrowers() == 0);
        assertThat(deviceSegments()).isEmpty();
        assertThat(model.calls).containsExactly("detached 1", "reset");
        second.borrow(id, SCI_FLAG_EXCLUSIVE());
    }

    @Test
    void shouldReportEachBorrowAndItsEnd() throws Exception {
        var events = new CopyOnWriteArrayList<DeviceBorrowedOrReturnedEvent>();
        var device =
                nodes.first
                        .fabric()
                        .lend(
                                new EduDevice(),
                                event -> {
                                    events.add(event);
                                    throw new IllegalStateException("from the listener");
                                });
        var program = LibraryCaller.in(SoftSisciOptions.in(nodes.folder));
        var leavingNode = program.node();
        var returned = second.borrow(device.fabricDeviceId(), 0);
        new DeviceFunctionCaller(program, program.open()).borrow(device.fabricDeviceId(), 0);

        assertThat(second.giveBack(returned)).isEqualTo("OK");
        program.close();

        eventually(() -> device.borrowers() == 0);
        assertThat(second.borrowError(device.fabricDeviceId(), 0)).isEqualTo("OK");
        device.close();
        var node = nodes.second.node();
        assertThat(events)
                .containsExactly(
                        new DeviceBorrowedOrReturnedEvent(BORROWED, node, 1),
                        new DeviceBorrowedOrReturnedEvent(BORROWED, leavingNode, 2),
                        new DeviceBorrowedOrReturnedEvent(RETURNED, node, 1),
                        new DeviceBorrowedOrReturnedEvent(RETURNED, leavingNode, 0),
                        new DeviceBorrowedOrReturnedEvent(BORROWED, node, 1),
                        new DeviceBorrowedOrReturnedEvent(RETURNED, node, 0));
    }

    private List<Path> deviceSegments() throws Exception {
        try (var files = Files.list(nodes.folder)) {
            return files.filter(file -> file.toString().contains("device_segment")).toList();
        }
    }

    @Test
    void shouldUnmapTheMemoryOfAKilledBorrower() throws Exception {
        second.borrow(id, 0);
        try (var peer = Peer.start(nodes.folder, 0, "borrow", nodes.first.node())) {
            var address = model.readBar(0, 0);
            assertThat(address >>> 40).isEqualTo(2);
            assertThat(model.write(address, 1)).isTrue();

            peer.kill();

            eventually(() -> lent.borrowers() == 1);
            assertThat(model.calls).containsExactly("detached 2");
            assertThat(model.write(address, 1)).isFalse();
            assertThat(windows()).isEmpty();
        }
    }

    /** Returns the mappings of the memory of the killed process. */
    private List<String> windows() throws Exception {
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.contains(nodes.folder + "/16.segment")).toList();
        }
    }

    @Test
    void shouldLoseADeviceWhoseLenderIsKilled() throws Exception {
        try (var peer = Peer.start(nodes.folder, 0, "lend", 0)) {
            var lost = second.borrow((long) peer.node() << 8 | 1, 0);
            var segment = second.prepare(9, BYTES);
            second.mapLocal(segment, lost, 0, BYTES);
            var bar = second.connect(lost, 0, SCI_MEMTYPE_BAR());
            var map = nodes.second.mapRemote(bar, 4096);
            assertThat(map.memory().get(JAVA_INT, 0)).isEqualTo(0x010000ed);

            peer.kill();

            assertThat(nodes.second.remoteEvent(bar)).isEqualTo(SCI_CB_LOST());
            assertThat(map.memory().get(JAVA_INT, 0)).isEqualTo(-1);
            assertIsLost(lost, segment);
            nodes.second.ok("SCIUnmapSegment", map.handle(), 0);
            assertThat(second.disconnect(bar)).isEqualTo("OK");
            assertThat(second.giveBack(lost)).isEqualTo("OK");
            nodes.second.ok("SCIClose", nodes.secondDescriptor, 0);
        }
    }

    /**
     * Checks that memory can be unmapped and the device returned, and that all other calls fail.
     */
    private void assertIsLost(long device, long segment) {
        assertThat(second.connectError(device, 0, SCI_MEMTYPE_BAR())).isEqualTo("NOT_AVAILABLE");
        assertThat(second.create(device, 1, 4096, PRIVATE)).isEqualTo("NOT_AVAILABLE");
        var other = second.prepare(10, BYTES);
        assertThat(second.mapLocalError(other, device, 0, BYTES)).isEqualTo("NOT_AVAILABLE");
        nodes.second.ok("SCIRemoveSegment", other, 0);
        assertThat(nodes.second.attempt("SCIRemoveSegment", segment, 0)).isEqualTo("BUSY");
        assertThat(second.unmapLocal(segment, device)).isEqualTo("OK");
        nodes.second.ok("SCIRemoveSegment", segment, 0);
    }

    @Test
    void shouldLoseADeviceThatIsWithdrawn() {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        second.mapLocal(segment, device, 0, BYTES);
        var bar = second.connect(device, 0, SCI_MEMTYPE_BAR());
        var map = nodes.second.mapRemote(bar, 4096);

        lent.close();

        assertThat(model.calls).containsExactly("detached 1", "reset");
        assertThat(nodes.second.remoteEvent(bar)).isEqualTo(SCI_CB_LOST());
        assertThat(map.memory().get(JAVA_INT, 0)).isEqualTo(-1);
        assertIsLost(device, segment);
        nodes.second.ok("SCIUnmapSegment", map.handle(), 0);
        assertThat(second.mapRemoteError(bar, device, 0, 4096)).isEqualTo("NOT_AVAILABLE");
        assertThat(second.disconnect(bar)).isEqualTo("OK");
        assertThat(second.giveBack(device)).isEqualTo("OK");
        lent.close();
    }

    @Test
    void shouldUnmapMemoryOnlyAfterTheLastAccessOfADeviceThatIsWithdrawn() throws Exception {
        shouldUnmapMemoryOnlyAfterTheLastAccess(lent::close);
    }

    @Test
    void shouldUnmapMemoryOnlyAfterTheLastAccessOfADeviceWhoseLenderLeaves() throws Exception {
        shouldUnmapMemoryOnlyAfterTheLastAccess(nodes.first::close);
    }

    private void shouldUnmapMemoryOnlyAfterTheLastAccess(Runnable close) throws Exception {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        second.mapLocal(segment, device, 0, BYTES);
        var release = new CountDownLatch(1);
        model.block(release);

        // The common pool may have only one thread, which the first task occupies.
        Executor threads = task -> Thread.ofPlatform().daemon().start(task);
        var end = CompletableFuture.runAsync(close, threads);
        try {
            assertThatThrownBy(() -> end.get(300, TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            var unmap =
                    CompletableFuture.supplyAsync(
                            () -> second.unmapLocal(segment, device), threads);
            assertThatThrownBy(() -> unmap.get(300, TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            release.countDown();
            assertThat(unmap.get(5, TimeUnit.SECONDS)).isEqualTo("OK");
        } finally {
            release.countDown(); // The device must not remain blocked after a failure.
        }
        end.get(5, TimeUnit.SECONDS);
    }

    @Test
    @Tag("slow")
    void shouldOmitDevicesWhoseLenderDoesNotRespond() throws Exception {
        try (var peer = Peer.start(nodes.folder, 0, "lend", 0)) {
            peer.signal("STOP");

            assertThat(count()).isEqualTo(1);

            peer.signal("CONT");
            assertThat(count()).isEqualTo(2);
        }
    }

    @Test
    @Tag("slow")
    void shouldReturnADeviceWhoseLenderRespondsTooLate() throws Exception {
        try (var peer = Peer.start(nodes.folder, 0, "lend", 0)) {
            var late = (long) peer.node() << 8 | 1;
            peer.signal("STOP");

            assertThat(second.borrowError(late, 0)).isEqualTo("NODE_NOT_RESPONDING");

            peer.signal("CONT");
            second.borrow(late, SCI_FLAG_EXCLUSIVE());
        }
    }

    private long count() {
        return nodes.second.ok("SCIGetDeviceList", nodes.secondDescriptor, 0, 0, 0, 0);
    }

    @Test
    void shouldNotLeakDescriptorsOrMappings() throws Exception {
        var before = List.<Long>of();
        for (var i = 0; i < 202; i++) {
            var device = second.borrow(id, SCI_FLAG_EXCLUSIVE());
            var segment = second.prepare(9, BYTES);
            second.mapLocal(segment, device, 0, BYTES);
            assertThat(second.mapLocalError(segment, device, 0, BYTES)).isEqualTo("BUSY");
            assertThat(second.create(device, 1, 4096, PRIVATE)).isEqualTo("OK");
            assertThat(second.create(device, 1, 4096, PRIVATE)).isEqualTo("SEGMENTID_USED");
            var remote = second.connect(device, 1, PRIVATE);
            second.mapRemote(remote, device, 0, 4096);
            assertThat(second.connectError(device, 2, PRIVATE)).isEqualTo("NO_SUCH_INTNO");
            assertThat(second.unmapRemote(remote, device)).isEqualTo("OK");
            assertThat(second.unmapLocal(segment, device)).isEqualTo("OK");
            assertThat(second.disconnect(remote)).isEqualTo("OK");
            nodes.second.ok("SCIRemoveSegment", segment, 0);
            assertThat(second.giveBack(device)).isEqualTo("OK");
            if (i == 1) {
                before = resources();
            }
        }
        assertThat(resources()).isEqualTo(before);
    }

    /** Returns the number of open descriptors of memory, and the number of its mappings. */
    private List<Long> resources() throws Exception {
        var targets = new ArrayList<String>();
        try (var descriptors = Files.list(Path.of("/proc/self/fd"))) {
            for (var each : descriptors.toList()) {
                if (Files.isSymbolicLink(each)) {
                    targets.add(Files.readSymbolicLink(each).toString());
                }
            }
        }
        try (var maps = Files.lines(Path.of("/proc/self/maps"))) {
            return List.of(
                    targets.stream().filter(target -> target.contains("memfd:")).count(),
                    maps.filter(line -> line.contains("memfd:")).count());
        }
    }

    @Test
    void shouldRejectInvalidModels() {
        for (var bars : List.of(List.of(-4096), List.of(100), List.of(0, 0, 0, 0, 0, 0, 4096))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> nodes.first.fabric().lend(new InvalidDevice(bars)))
                    .withMessageContaining("up to 6 BARs");
        }
        assertThat(count()).isEqualTo(1);
        assertThatExceptionOfType(FabricException.class)
                .isThrownBy(() ->
                        new SoftSisci(SoftSisciOptions.in(nodes.folder)).lend(new EduDevice()))
                .withMessageContaining("Open a node first");
    }

    /** A device with BARs of any size. */
    private record InvalidDevice(List<Integer> barBytes) implements DeviceModel {

        @Override
        public DeviceIdentity identity() {
            return new DeviceIdentity(0, 0, 0, 0, 0, 0, "invalid");
        }

        @Override
        public void attach(org.jrdma.soft.sisci.device.DeviceBus bus) {}

        @Override
        public boolean poll() {
            return false;
        }

        @Override
        public void detached(int borrower) {}

        @Override
        public void reset() {}
    }
}
