package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.util.List;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaTransfer;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SisciError;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A group of segments, one on each of several nodes, that all receive what anyone stores. */
class ReflectiveMemoryTest extends NodesTest {

    private static final int GROUP = 1;

    private List<Peer> members;

    @BeforeEach
    void join() throws Exception {
        members = List.of(peer, fabric.third());
        for (var member : members) {
            member.tell(ReflectiveMemoryTest::join);
        }
    }

    private static void join(Party party) throws Exception {
        var segment = party.node().newSegment(SegmentOptions.inGroup(GROUP, BYTES));
        party.keep("member", segment.map());
        segment.offer();
    }

    private static LocalMap memory(Party party) {
        return party.kept("member", LocalMap.class);
    }

    private static void has(Peer member, long offset, long value) throws Exception {
        member.tell(party -> assertThat(memory(party).getLongAcquire(offset)).isEqualTo(value));
    }

    @Test
    void shouldReachEveryMember() throws Exception {
        var map = node.connectGroup(GROUP, SOON).map();

        map.putLong(64, 42);
        map.putLongRelease(0, 1);
        map.flush();

        for (var member : members) {
            has(member, 0, 1);
            has(member, 64, 42);
        }
    }

    @Test
    void shouldReachEveryMemberFromAnyMember() throws Exception {
        var own = node.newSegment(SegmentOptions.inGroup(GROUP, BYTES));
        var memory = own.map();
        own.offer();

        for (var i = 0; i < members.size(); i++) {
            var offset = 8L * i;
            members.get(i)
                    .tell(party -> {
                        try (var group = party.node().connectGroup(GROUP, SOON);
                                var map = group.map()) {
                            map.putLong(offset, 100 + offset);
                            map.flush();
                        }
                    });
        }

        for (var i = 0; i < members.size(); i++) {
            var offset = 8L * i;
            eventually(() -> memory.getLong(offset) == 100 + offset);
        }
    }

    @Test
    void shouldReachAllByDma() throws Exception {
        var local = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).forThisSideOnly());
        local.prepare();
        Memory.fill(local.map().segment(), 5);
        var group = node.connectGroup(GROUP, SOON);
        var queue = node.newDmaQueue(1);

        queue.transfer(DmaTransfer.push(local, 0, group, 0, BYTES).toGroup(), SOON);

        for (var member : members) {
            member.tell(party -> assertThat(Memory.holds(memory(party).segment(), 5)).isTrue());
        }
        refuses(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransfer.pull(local, 0, group, 0, BYTES).toGroup()));
    }

    @Test
    void shouldGoOnWhenAMemberLeavesAndWhenOneComes() throws Exception {
        RemoteMap map = node.connectGroup(GROUP, SOON).map();
        members.getFirst().reset();

        map.putLongRelease(0, 2);
        map.flush();
        has(members.getLast(), 0, 2);

        members.getFirst().tell(ReflectiveMemoryTest::join);
        map.putLongRelease(8, 3);
        map.flush();
        for (var member : members) {
            has(member, 8, 3);
        }
    }

    @Test
    void shouldReachAMemberAloneOnlyIfItAllowsThat() throws Exception {
        var own = node.newSegment(SegmentOptions.inGroup(GROUP, BYTES).alsoUnicast());
        own.offer();
        var memory = own.map();
        var here = node.id();
        peer.tell(party -> {
            try (var remote = party.node().connect(here, GROUP, SOON);
                    var map = remote.map()) {
                map.putLong(0, 5);
                map.flush();
            }
        });

        assertThat(memory.getLong(0)).isEqualTo(5);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(peer.node(), GROUP, ofMillis(10)));
    }

    @Test
    void shouldRefuseAGroupThatCannotBeOrHasNobody() throws Exception {
        refuses(
                SisciError.OUT_OF_RANGE,
                () -> node.newSegment(SegmentOptions.inGroup(1 << 20, BYTES)));
        refuses(
                SisciError.ILLEGAL_FLAG,
                () -> node.newSegment(SegmentOptions.inGroup(GROUP, BYTES).forThisSideOnly()));
        refuses(
                SisciError.ILLEGAL_FLAG,
                () -> node.newSegment(SegmentOptions.of(SEGMENT, BYTES).alsoUnicast()));
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connectGroup(GROUP + 1, ofMillis(10)))
                .withMessageStartingWith("No connection to group " + (GROUP + 1));
        var group = node.connectGroup(GROUP, SOON);
        group.close();
        assertThatIllegalStateException().isThrownBy(group::map);
    }
}
