package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;
import static org.jrdma.soft.sisci.abi.ThreeNodes.eventually;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of reflective memory: a store reaches all members of a group. */
class BroadcastSegmentTest {

    private static final int GROUP = 1;
    private static final int ALL = sisci_h.DIS_BROADCAST_NODEID_GROUP_ALL();
    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private ThreeNodes nodes;

    @BeforeEach
    void join() throws Exception {
        nodes = new ThreeNodes(FaultOptions.NONE);
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    private static MemorySegment member(LibraryCaller process, long descriptor, int moreFlags) {
        var segment =
                process.create(descriptor, GROUP, BYTES, sisci_h.SCI_FLAG_BROADCAST() | moreFlags);
        process.ok("SCIPrepareSegment", segment, 0, 0);
        process.ok("SCISetSegmentAvailable", segment, 0, 0);
        return process.mapLocal(segment, BYTES).memory();
    }

    private static LibraryCaller.Mapped group(LibraryCaller process, long descriptor) {
        return process.mapRemote(
                process.connect(descriptor, ALL, GROUP, sisci_h.SCI_FLAG_BROADCAST()), BYTES);
    }

    @Test
    void shouldDeliverAStoreToTheMemoryOfEachMember() throws Exception {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var second = member(nodes.second, nodes.secondDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor).memory();

        group.set(JAVA_LONG, 8, 5);
        nodes.third.plain("SCIFlush", 0, 0);
        first.set(JAVA_LONG, 16, 6); // The member itself stores this value.

        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(5);
        assertThat(second.get(JAVA_LONG, 8)).isEqualTo(5);
        assertThat(second.get(JAVA_LONG, 16)).isZero();
    }

    @Test
    void shouldDeliverAStoreWithoutAFlush() throws Exception {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor).memory();

        group.set(JAVA_LONG, 8, 5);

        eventually(() -> (long) WORD.getVolatile(first, 8L) == 5);
    }

    @Test
    void shouldDeliverToMembersThatJoinAndContinueWhenAMemberLeaves() throws Exception {
        member(nodes.first, nodes.firstDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor).memory();
        var second = member(nodes.second, nodes.secondDescriptor, 0);

        group.set(JAVA_LONG, 8, 5);
        nodes.third.plain("SCIFlush", 0, 0);
        assertThat(second.get(JAVA_LONG, 8)).isEqualTo(5);
        nodes.first.close();
        group.set(JAVA_LONG, 8, 6);
        nodes.third.plain("SCIFlush", 0, 0);

        assertThat(second.get(JAVA_LONG, 8)).isEqualTo(6);
    }

    @Test
    void shouldRejectAUnicastConnectionUnlessTheMemberAllowsIt() {
        member(nodes.first, nodes.firstDescriptor, 0);
        member(nodes.second, nodes.secondDescriptor, sisci_h.SCI_FLAG_ALLOW_UNICAST());

        assertThat(connectError(nodes.first.node(), 0)).isEqualTo("NO_SUCH_INTNO");
        assertThat(connectError(nodes.second.node(), 0)).isEqualTo("OK");
        assertThat(connectError(ALL, 0)).isEqualTo("ILLEGAL_NODEID");
        assertThat(connectError(nodes.first.node(), sisci_h.SCI_FLAG_BROADCAST()))
                .isEqualTo("ILLEGAL_NODEID");
    }

    private String connectError(int node, int flags) {
        return nodes.third.attempt(
                "SCIConnectSegment",
                nodes.thirdDescriptor,
                nodes.third.place().address(),
                node,
                GROUP,
                0,
                0,
                0,
                -1,
                flags);
    }

    @Test
    void shouldNotDeliverToAMemberWhoseLinkIsCut() throws Exception {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var second = member(nodes.second, nodes.secondDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor).memory();

        nodes.first.fabric().cutLink(0);
        group.set(JAVA_LONG, 8, 5);
        nodes.third.plain("SCIFlush", 0, 0);

        assertThat(first.get(JAVA_LONG, 8)).isZero();
        assertThat(second.get(JAVA_LONG, 8)).isEqualTo(5);
        nodes.first.fabric().restoreLink(0);
        group.set(JAVA_LONG, 8, 7);
        nodes.third.plain("SCIFlush", 0, 0);
        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(7);
    }

    @Test
    void shouldNotDeliverAStoreOfAnUnchangedValue() {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor).memory();
        group.set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);
        first.set(JAVA_LONG, 8, 0); // The member resets a flag.

        group.set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);

        // A map of a group shows only the stores of this process.
        assertThat(group.get(JAVA_LONG, 8)).isEqualTo(1);
        // The documentation of SoftSisci describes this behavior.
        assertThat(first.get(JAVA_LONG, 8)).isZero();
    }

    @Test
    void shouldDeliverACopyOfUnchangedValues() {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var second = member(nodes.second, nodes.secondDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor);
        var one = nodes.third.place();
        one.set(JAVA_LONG, 0, 0x0101_0101_0101_0101L);
        for (var round = 0; round < 2; round++) {
            first.set(JAVA_LONG, 8, 0);
            second.set(JAVA_LONG, 8, 0);

            nodes.third.ok("SCIMemCpy", 0, one.address(), group.handle(), 11, 4, 0);

            assertThat(first.get(JAVA_LONG, 8)).isEqualTo(0x0001_0101_0100_0000L);
            assertThat(second.get(JAVA_LONG, 8)).isEqualTo(0x0001_0101_0100_0000L);
            assertThat(group.memory().get(JAVA_LONG, 8)).isEqualTo(0x0001_0101_0100_0000L);
        }
    }

    @Test
    void shouldDeliverAStoreOfTheValueBeforeACopy() {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var group = group(nodes.third, nodes.thirdDescriptor);
        group.memory().set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);
        var two = nodes.third.place();
        two.set(JAVA_LONG, 0, 2);
        nodes.third.ok("SCIMemCpy", 0, two.address(), group.handle(), 8, 8, 0);
        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(2);

        group.memory().set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);

        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(1);
    }

    @Test
    void shouldCopyToAllMembersByDma() {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var second = member(nodes.second, nodes.secondDescriptor, 0);

        pushToGroup(connectToGroup(), 5);

        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(5);
        assertThat(second.get(JAVA_LONG, 8)).isEqualTo(5);
    }

    private long connectToGroup() {
        return nodes.third.connect(nodes.thirdDescriptor, ALL, GROUP, sisci_h.SCI_FLAG_BROADCAST());
    }

    private void pushToGroup(long remote, long value) {
        var local = nodes.third.offer(nodes.thirdDescriptor, 20, BYTES);
        nodes.third.mapLocal(local, BYTES).memory().set(JAVA_LONG, 0, value);
        var queue = nodes.third.place();
        nodes.third.ok("SCICreateDMAQueue", nodes.thirdDescriptor, queue.address(), 0, 1, 0);
        nodes.third.ok(
                "SCIStartDmaTransfer",
                LibraryCaller.handle(queue),
                local,
                remote,
                0,
                8,
                8,
                0,
                0,
                sisci_h.SCI_FLAG_DMA_WAIT() | sisci_h.SCI_FLAG_BROADCAST());
    }

    @Test
    void shouldDeliverAStoreOfTheValueBeforeADmaTransfer() {
        var first = member(nodes.first, nodes.firstDescriptor, 0);
        var remote = connectToGroup();
        var whole = nodes.third.mapRemote(remote, BYTES).memory();
        var beyond = nodes.third.map("SCIMapRemoteSegment", remote, 4096, 4096, 0).memory();
        whole.set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);

        pushToGroup(remote, 2);
        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(2);
        whole.set(JAVA_LONG, 8, 1);
        nodes.third.plain("SCIFlush", 0, 0);

        assertThat(first.get(JAVA_LONG, 8)).isEqualTo(1);
        assertThat(beyond.get(JAVA_LONG, 8)).isZero();
    }
}
