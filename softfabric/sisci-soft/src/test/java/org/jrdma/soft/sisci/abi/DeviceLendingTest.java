package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;
import static org.jrdma.soft.sisci.abi.ThreeNodes.eventually;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jrdma.abi.sisci.sci_smartio_device_info_t;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.LentDevice;
import org.jrdma.soft.sisci.ListedDevice;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of a device that the first node lends to the second and the third node. */
class DeviceLendingTest {

    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final int EXCLUSIVE = SCI_FLAG_EXCLUSIVE();
    private static final int PRIVATE = SCI_MEMTYPE_PRIVATE();
    private static final int SHARED = SCI_MEMTYPE_SHARED();

    private final ScriptedDevice model = new ScriptedDevice(0x1234, 0x11, "first");
    private ThreeNodes nodes;
    private LentDevice lent;
    private long id;
    private DeviceFunctionCaller second;
    private DeviceFunctionCaller third;

    @BeforeEach
    void lend() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
        lent = nodes.first.fabric().lend(model);
        id = lent.fabricDeviceId();
        second = new DeviceFunctionCaller(nodes.second, nodes.secondDescriptor);
        third = new DeviceFunctionCaller(nodes.third, nodes.thirdDescriptor);
    }

    @AfterEach
    void leaveAndVerifyThatNoFileRemains() throws Exception {
        nodes.close();
    }

    @Test
    void shouldListTheDevicesThatMatchAFilter() throws Exception {
        try (var other = nodes.third.fabric().lend(new ScriptedDevice(0x1234, 0x12, "other"))) {
            var otherId = other.fabricDeviceId();

            assertThat(id).isEqualTo((long) nodes.first.node() << 8 | 1);
            assertThat(list(_ -> {})).containsExactly(id, otherId);
            assertThat(
                            list(filter ->
                                    sci_smartio_device_info_t.pci_device_id(filter, (short) 0x12)))
                    .containsExactly(otherId);
            assertThat(list(filter -> sci_smartio_device_info_t.fdid(filter, id)))
                    .containsExactly(id);
            assertThat(
                            list(filter -> {
                                sci_smartio_device_info_t.pci_class(filter, 0x010802);
                                sci_smartio_device_info_t.nodeid(filter, nodes.third.node());
                            }))
                    .containsExactly(otherId);
            assertThat(list(filter -> name(filter, "first"))).containsExactly(id);
            assertThat(list(filter -> name(filter, "firs"))).isEmpty();
            assertThat(list(filter -> sci_smartio_device_info_t.adapter(filter, 1))).isEmpty();
        }
        assertThat(list(_ -> {})).containsExactly(id);
    }

    private static void name(MemorySegment filter, String name) {
        sci_smartio_device_info_t
                .user_name(filter)
                .copyFrom(MemorySegment.ofArray(name.getBytes(UTF_8)));
    }

    private List<Long> list(Consumer<MemorySegment> setFilter) {
        try (var arena = Arena.ofConfined()) {
            var filter = arena.allocate(sci_smartio_device_info_t.layout());
            setFilter.accept(filter);
            var ids = arena.allocate(JAVA_LONG, 8);
            var count =
                    nodes.second.ok(
                            "SCIGetDeviceList",
                            nodes.secondDescriptor,
                            ids.address(),
                            8,
                            filter.address(),
                            0);
            return LongStream.range(0, count)
                    .map(i -> ids.getAtIndex(JAVA_LONG, i))
                    .boxed()
                    .toList();
        }
    }

    @Test
    void shouldReturnTheNumberOfAllMatchesIfTheListIsTooShort() throws Exception {
        try (var _ = nodes.first.fabric().lend(new ScriptedDevice(1, 2, "another"))) {
            var place = nodes.second.place();

            assertThat(
                            nodes.second.ok(
                                    "SCIGetDeviceList",
                                    nodes.secondDescriptor,
                                    place.address(),
                                    1,
                                    0,
                                    0))
                    .isEqualTo(2);
            assertThat(LibraryCaller.handle(place)).isEqualTo(id);
        }
    }

    @Test
    void shouldLendADeviceToSeveralProcessesUntilTheyReturnIt() {
        var one = second.borrow(id, 0);
        var two = third.borrow(id, 0);
        assertThat(lent.borrowers()).isEqualTo(2);
        assertThat(nodes.second.plain("SCIGetFabricDeviceId", one)).isEqualTo(id);
        assertThat(nodes.second.attempt("SCIClose", nodes.secondDescriptor, 0)).isEqualTo("BUSY");

        assertThat(second.giveBack(one)).isEqualTo("OK");
        assertThat(model.calls).containsExactly("detached 1");
        assertThat(third.giveBack(two)).isEqualTo("OK");

        assertThat(model.calls).containsExactly("detached 1", "detached 2", "reset");
        assertThat(lent.borrowers()).isZero();
        assertThat(second.giveBack(one)).isEqualTo("ILLEGAL_PARAMETER");
        nodes.second.ok("SCIClose", nodes.secondDescriptor, 0);
    }

    @Test
    void shouldLendADeviceExclusively() {
        var exclusive = second.borrow(id, EXCLUSIVE);
        assertThat(third.borrowError(id, 0)).isEqualTo("BUSY");
        assertThat(third.borrowError(id, EXCLUSIVE)).isEqualTo("BUSY");
        assertThat(second.giveBack(exclusive)).isEqualTo("OK");

        var shared = third.borrow(id, 0);
        assertThat(second.borrowError(id, EXCLUSIVE)).isEqualTo("BUSY");
        assertThat(third.giveBack(shared)).isEqualTo("OK");
        assertThat(second.giveBack(second.borrow(id, EXCLUSIVE))).isEqualTo("OK");
    }

    @Test
    void shouldDescribeHowADeviceIsBorrowed() throws Exception {
        var fabric = nodes.third.fabric();
        var lender = nodes.first.node();
        var idle = new ListedDevice(id, lender, model.identity(), true, false, List.of());
        assertThat(fabric.devices()).containsExactly(idle);

        var exclusive = second.borrow(id, EXCLUSIVE);
        assertThat(fabric.devices())
                .containsExactly(
                        new ListedDevice(
                                id,
                                lender,
                                model.identity(),
                                true,
                                true,
                                List.of(nodes.second.node())));
        second.giveBack(exclusive);

        third.borrow(id, 0);
        second.borrow(id, 0);
        third.borrow(id, 0);
        lent.makeUnavailable();
        assertThat(fabric.devices())
                .containsExactly(
                        new ListedDevice(
                                id,
                                lender,
                                model.identity(),
                                false,
                                false,
                                List.of(
                                        nodes.second.node(),
                                        nodes.third.node(),
                                        nodes.third.node())));
    }

    @Test
    void shouldBeMadeUnavailableAndAvailableByAnotherProcess() throws Exception {
        var fabric = nodes.third.fabric();
        var kept = second.borrow(id, 0);

        fabric.makeUnavailable(id);
        assertThat(second.borrowError(id, 0)).isEqualTo("NOT_AVAILABLE");
        assertThat(lent.borrowers()).isOne();
        assertThat(second.giveBack(kept)).isEqualTo("OK");

        fabric.makeAvailable(id);
        assertThat(second.borrowError(id, 0)).isEqualTo("OK");
        for (var unknown : new long[] {id + 1, 0, -1, 252L << 8 | 1}) {
            assertThatThrownBy(() -> fabric.makeUnavailable(unknown))
                    .isInstanceOf(FabricException.class)
                    .hasMessage("No node of the fabric lends a device with the id 0x%x.", unknown);
        }
    }

    @Test
    void shouldRejectInvalidBorrows() {
        for (var unknown : new long[] {id + 1, 0, -1, 0x100, 252L << 8 | 1, id | 1L << 40}) {
            assertThat(second.borrowError(unknown, 0))
                    .as(Long.toHexString(unknown))
                    .isEqualTo("NO_SUCH_FDID");
        }
        assertThat(second.borrowError(id, 0x4000_0000)).isEqualTo("ILLEGAL_FLAG");
        lent.makeUnavailable();
        assertThat(second.borrowError(id, 0)).isEqualTo("NOT_AVAILABLE");
        lent.makeAvailable();
        assertThat(second.borrowError(id, 0)).isEqualTo("OK");
        lent.close();
        assertThat(second.borrowError(id, 0)).isEqualTo("NO_SUCH_FDID");
    }

    @Test
    void shouldShareTheBarsWithAllBorrowers() throws Exception {
        var one = second.bar(second.borrow(id, 0), 0, ScriptedDevice.BAR_BYTES);
        var two = third.bar(third.borrow(id, 0), 0, ScriptedDevice.BAR_BYTES);

        one.set(JAVA_INT, 4096, 7);

        assertThat(two.get(JAVA_INT, 4096)).isEqualTo(7);
        assertThat(model.readBar(0, 4096)).isEqualTo(7);
        var device = second.borrow(id, 0);
        var bar = second.connect(device, 2, SCI_MEMTYPE_BAR());
        assertThat(nodes.second.plain("SCIGetRemoteSegmentSize", bar)).isEqualTo(4096);
        assertThat(nodes.second.plain("SCIGetRemoteSegmentId", bar)).isEqualTo(2);
        assertThat(nodes.second.plain("SCIGetRemoteSegmentNodeId", bar))
                .isEqualTo(nodes.first.node());
        for (var number : new int[] {1, 3, -1, Integer.MAX_VALUE}) {
            assertThat(second.connectError(device, number, SCI_MEMTYPE_BAR()))
                    // NO_SUCH_INTNO has the same number as NO_SUCH_SEGMENT.
                    .isEqualTo("NO_SUCH_INTNO");
        }
    }

    @Test
    void shouldCreatePrivateAndSharedDeviceSegments() {
        var one = second.borrow(id, 0);
        var two = third.borrow(id, 0);
        assertThat(second.create(one, 5, 100, PRIVATE)).isEqualTo("OK");
        assertThat(third.create(two, 5, 4096, PRIVATE)).isEqualTo("OK");
        assertThat(second.create(one, 5, 4096, SHARED)).isEqualTo("OK");
        assertThat(third.create(two, 5, 4096, SHARED)).isEqualTo("SEGMENTID_USED");
        var ofSecond = nodes.second.mapRemote(second.connect(one, 5, PRIVATE), 100).memory();
        var ofThird = nodes.third.mapRemote(third.connect(two, 5, PRIVATE), 4096).memory();
        var sharedBySecond = nodes.second.mapRemote(second.connect(one, 5, SHARED), 4096).memory();
        var sharedByThird = nodes.third.mapRemote(third.connect(two, 5, SHARED), 4096).memory();

        ofSecond.set(JAVA_INT, 0, 1);
        sharedBySecond.set(JAVA_INT, 0, 2);

        assertThat(ofThird.get(JAVA_INT, 0)).isZero();
        assertThat(sharedByThird.get(JAVA_INT, 0)).isEqualTo(2);
    }

    @Test
    void shouldKeepSharedDeviceSegmentsUntilTheLastBorrowEnds() {
        var one = second.borrow(id, 0);
        var two = third.borrow(id, 0);
        assertThat(second.create(one, 1, 4096, PRIVATE)).isEqualTo("OK");
        assertThat(second.create(one, 2, 4096, SHARED)).isEqualTo("OK");
        assertThat(second.giveBack(one)).isEqualTo("OK");
        assertThat(third.disconnect(third.connect(two, 2, SHARED))).isEqualTo("OK");
        assertThat(third.giveBack(two)).isEqualTo("OK");

        var next = third.borrow(id, 0);

        assertThat(third.connectError(next, 2, SHARED)).isEqualTo("NO_SUCH_INTNO");
        assertThat(third.connectError(next, 1, PRIVATE)).isEqualTo("NO_SUCH_INTNO");
    }

    @Test
    void shouldRejectInvalidDeviceSegments() {
        var device = second.borrow(id, 0);
        assertThat(second.create(device, 1, 0, PRIVATE)).isEqualTo("SIZE_ALIGNMENT");
        assertThat(second.create(device, 1, -1, PRIVATE)).isEqualTo("SIZE_ALIGNMENT");
        assertThat(second.create(device, 1, Long.MAX_VALUE, SHARED)).isEqualTo("NOSPC");
        assertThat(second.create(device, 1, 4096, SCI_MEMTYPE_BAR()))
                .isEqualTo("ILLEGAL_PARAMETER");
        assertThat(second.connectError(device, 1, 0)).isEqualTo("ILLEGAL_PARAMETER");
        assertThat(nodes.second.attempt("SCICreateDeviceSegment", device, 1, 4096, PRIVATE, 64, 0))
                .isEqualTo("ILLEGAL_FLAG");
        for (var i = 0; i < 256; i++) {
            assertThat(second.create(device, i, 4096, PRIVATE)).isEqualTo("OK");
        }
        assertThat(second.create(device, 256, 4096, PRIVATE)).isEqualTo("NOSPC");
    }

    @Test
    void shouldCopyBetweenTheDeviceAndAMappedPartOfASegment() throws Exception {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        var own = nodes.second.mapLocal(segment, BYTES).memory();
        own.set(JAVA_LONG, 4096 + 8, 5);

        var address = second.mapLocal(segment, device, 4096, 4096);

        assertThat(address >>> 40).isEqualTo(1);
        assertThat(model.read(address + 8)).isEqualTo(5);
        assertThat(model.write(address + 4096 - 8, 6)).isTrue();
        assertThat(own.get(JAVA_LONG, 8192 - 8)).isEqualTo(6);
        assertThat(lent.refusedAccesses()).isZero();
        for (var outside :
                new long[] {address - 8, address + 4096 - 4, address + 4096, 4096, 2L << 40, -8}) {
            assertThat(model.write(outside, -1)).as(Long.toHexString(outside)).isFalse();
        }
        assertThat(lent.refusedAccesses()).isEqualTo(6);
        assertThat(own.get(JAVA_LONG, 4096 - 8)).isZero();
        assertThat(own.get(JAVA_LONG, 8192)).isZero();
    }

    @Test
    void shouldRefuseAccessesAfterTheMemoryWasUnmapped() throws Exception {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        var address = second.mapLocal(segment, device, 0, BYTES);
        assertThat(second.unmapLocal(segment, device)).isEqualTo("OK");

        assertThat(model.write(address, 1)).isFalse();

        assertThat(second.unmapLocal(segment, device)).isEqualTo("ILLEGAL_OPERATION");
        assertThat(second.mapLocal(segment, device, 0, BYTES)).isGreaterThan(address);
    }

    @Test
    void shouldMapASegmentOnceForEachDevice() throws Exception {
        try (var other = nodes.third.fabric().lend(new ScriptedDevice(1, 2, "other"))) {
            var device = second.borrow(id, 0);
            var segment = second.prepare(9, BYTES);
            second.mapLocal(segment, device, 0, 4096);

            assertThat(second.mapLocalError(segment, device, 4096, 4096)).isEqualTo("BUSY");

            second.mapLocal(segment, second.borrow(other.fabricDeviceId(), 0), 0, 4096);
        }
    }

    @Test
    void shouldRejectInvalidMappings() {
        var device = second.borrow(id, 0);
        var unprepared = nodes.second.create(nodes.secondDescriptor, 8, BYTES, 0);
        assertThat(second.mapLocalError(unprepared, device, 0, BYTES))
                .isEqualTo("SEGMENT_NOT_PREPARED");
        var segment = second.prepare(9, BYTES);
        assertThat(second.mapLocalError(segment, device, 8, 4096)).isEqualTo("OFFSET_ALIGNMENT");
        assertThat(second.mapLocalError(segment, device, 0, 0)).isEqualTo("SIZE_ALIGNMENT");
        assertThat(second.mapLocalError(segment, device, 4096, BYTES)).isEqualTo("OUT_OF_RANGE");
        assertThat(second.mapLocalError(segment, device, -4096, 4096)).isEqualTo("OUT_OF_RANGE");
        assertThat(second.mapLocalError(segment, device, 0, Long.MIN_VALUE))
                .isEqualTo("OUT_OF_RANGE");
        assertThat(second.unmapLocal(segment, device)).isEqualTo("ILLEGAL_OPERATION");
        nodes.second.ok("SCIRemoveSegment", segment, 0);
        assertThat(second.giveBack(device)).isEqualTo("OK");
    }

    @Test
    void shouldNotRemoveASegmentOrReturnTheDeviceWhileTheSegmentIsMapped() {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        second.mapLocal(segment, device, 0, 4096);

        assertThat(nodes.second.attempt("SCIRemoveSegment", segment, 0)).isEqualTo("BUSY");
        assertThat(nodes.second.attempt("SCIRemoveSegment", segment, SCI_FLAG_FORCE_REMOVE()))
                .isEqualTo("BUSY");
        assertThat(second.giveBack(device)).isEqualTo("BUSY");

        assertThat(second.unmapLocal(segment, device)).isEqualTo("OK");
        nodes.second.ok("SCIRemoveSegment", segment, 0);
        assertThat(second.giveBack(device)).isEqualTo("OK");
    }

    @Test
    void shouldNotDisconnectADeviceSegmentOrReturnTheDeviceWhileTheSegmentIsMapped()
            throws Exception {
        var device = second.borrow(id, 0);
        assertThat(second.create(device, 1, 4096, PRIVATE)).isEqualTo("OK");
        var segment = second.connect(device, 1, PRIVATE);
        var memory = nodes.second.mapRemote(segment, 4096);
        var address = second.mapRemote(segment, device, 0, 4096);

        assertThat(model.write(address + 16, 7)).isTrue();

        assertThat(memory.memory().get(JAVA_LONG, 16)).isEqualTo(7);
        nodes.second.ok("SCIUnmapSegment", memory.handle(), 0);
        assertThat(second.disconnect(segment)).isEqualTo("BUSY");
        assertThat(second.mapRemoteError(segment, device, 0, 4096)).isEqualTo("BUSY");
        assertThat(second.unmapRemote(segment, device)).isEqualTo("OK");
        assertThat(second.unmapRemote(segment, device)).isEqualTo("ILLEGAL_OPERATION");
        assertThat(second.giveBack(device)).isEqualTo("BUSY");
        assertThat(second.disconnect(segment)).isEqualTo("OK");
        assertThat(second.giveBack(device)).isEqualTo("OK");
    }

    @Test
    void shouldCopyToASegmentOfAThirdNode() throws Exception {
        var offered = nodes.third.offer(nodes.thirdDescriptor, 7, BYTES);
        var memory = nodes.third.mapLocal(offered, BYTES).memory();
        var remote = nodes.second.connect(nodes.secondDescriptor, nodes.third.node(), 7);
        var address = second.mapRemote(remote, second.borrow(id, 0), 4096, 4096);

        assertThat(model.write(address + 8, 7)).isTrue();

        assertThat(memory.get(JAVA_LONG, 4096 + 8)).isEqualTo(7);
        nodes.third.fabric().cutLink(0);
        assertThat(model.write(address + 8, 8)).isFalse();
        nodes.third.fabric().restoreLink(0);
        assertThat(model.write(address + 8, 9)).isTrue();
    }

    @Test
    void shouldNotMapAMulticastGroupForADevice() {
        var group = nodes.third.create(nodes.thirdDescriptor, 1, BYTES, SCI_FLAG_BROADCAST());
        nodes.third.ok("SCIPrepareSegment", group, 0, 0);
        nodes.third.ok("SCISetSegmentAvailable", group, 0, 0);
        var remote =
                nodes.second.connect(
                        nodes.secondDescriptor,
                        DIS_BROADCAST_NODEID_GROUP_ALL(),
                        1,
                        SCI_FLAG_BROADCAST());

        assertThat(second.mapRemoteError(remote, second.borrow(id, 0), 0, 4096))
                .isEqualTo("ILLEGAL_OPERATION");
        assertThat(second.disconnect(remote)).isEqualTo("OK");
    }

    @Test
    void shouldTriggerTheInterruptFlagAtTheAddressOfASignal() throws Exception {
        var device = second.borrow(id, 0);
        var segment = second.prepare(9, BYTES);
        var own = nodes.second.mapLocal(segment, BYTES).memory();
        var flag = flag(nodes.second, segment, 4096 + 64);
        var address = second.mapLocal(segment, device, 4096, 4096);

        assertThat(model.signal(address + 64, 33)).isTrue();

        assertThat(nodes.second.attempt("SCIWaitForInterrupt", flag, 5_000, 0)).isEqualTo("OK");
        assertThat(own.get(JAVA_INT, 4096 + 64)).isEqualTo(33);
        assertThat(model.signal(address + 68, 34)).isTrue();
        assertThat(nodes.second.attempt("SCIWaitForInterrupt", flag, 50, 0)).isEqualTo("TIMEOUT");
        assertThat(own.get(JAVA_INT, 4096 + 68)).isEqualTo(34);
    }

    private static long flag(LibraryCaller program, long segment, int offset) {
        var place = program.place();
        program.ok("SCIRegisterInterruptFlag", 0, place.address(), segment, offset, 0, 0, 0);
        return LibraryCaller.handle(place);
    }

    @Test
    void shouldTriggerTheInterruptFlagOfASegmentOfAThirdNode() throws Exception {
        var offered = nodes.third.offer(nodes.thirdDescriptor, 7, BYTES);
        var flag = flag(nodes.third, offered, 4096 + 64);
        var remote = nodes.second.connect(nodes.secondDescriptor, nodes.third.node(), 7);
        var address = second.mapRemote(remote, second.borrow(id, 0), 4096, 4096);

        assertThat(model.signal(address + 64, 1)).isTrue();

        assertThat(nodes.third.attempt("SCIWaitForInterrupt", flag, 5_000, 0)).isEqualTo("OK");
    }

    @Test
    void shouldUseTheDeviceOfAnotherProcess() throws Exception {
        try (var peer = Peer.start(nodes.folder, 0, "lend", 0)) {
            var device = second.borrow((long) peer.node() << 8 | 1, 0);
            var registers = second.bar(device, 0, Peer.BAR_BYTES);
            var segment = second.prepare(9, BYTES);
            var own = nodes.second.mapLocal(segment, BYTES).memory();
            var flag = flag(nodes.second, segment, 8192);
            var address = second.mapLocal(segment, device, 0, BYTES);
            own.set(JAVA_LONG, 0, 7);
            // The address of the message that signals an interrupt.
            registers.set(JAVA_LONG, 0xa0, address + 8192);
            registers.set(JAVA_LONG, 0x80, address); // The source.
            registers.set(JAVA_LONG, 0x88, 0x40000); // The destination: the buffer of the device.
            registers.set(JAVA_LONG, 0x90, 4096); // The number of bytes.

            WORD.setRelease(registers, 0x98L, 1 | 4); // Copies, and signals an interrupt.
            nodes.second.ok("SCIWaitForInterrupt", flag, 5_000, 0);
            registers.set(JAVA_LONG, 0x80, 0x40000);
            registers.set(JAVA_LONG, 0x88, address + 4096);
            WORD.setRelease(registers, 0x98L, 1 | 2 | 4); // Copies from the device.
            nodes.second.ok("SCIWaitForInterrupt", flag, 5_000, 0);

            assertThat(own.get(JAVA_LONG, 4096)).isEqualTo(7);
        }
    }

    @Test
    void shouldLendADeviceToItsOwnProcess() throws Exception {
        var first = new DeviceFunctionCaller(nodes.first, nodes.firstDescriptor);
        var device = first.borrow(id, EXCLUSIVE);
        var segment = first.prepare(9, BYTES);
        nodes.first.fabric().cutLink(0); // A device of the same node uses no link.

        assertThat(model.write(first.mapLocal(segment, device, 0, 4096), 1)).isTrue();
    }

    @Test
    void shouldGiveEachDeviceOfANodeASlotOfItsOwn() throws Exception {
        try (var sibling =
                        LibraryCaller.in(
                                SoftSisciOptions.in(nodes.folder).node(nodes.first.node()));
                var other = sibling.fabric().lend(new ScriptedDevice(1, 2, "other"))) {
            assertThat(other.fabricDeviceId()).isEqualTo(id + 1);
            lent.close();
            try (var next = nodes.first.fabric().lend(new ScriptedDevice(1, 3, "next"))) {
                assertThat(next.fabricDeviceId()).isEqualTo(id);
            }
            second.borrow(other.fabricDeviceId(), 0);
        }
        eventually(() -> list(_ -> {}).isEmpty());
    }
}
