package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.util.List;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaTransferRequest;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SisciError;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests reflective memory: a group of segments on several nodes. Each store to the group reaches
 * all segments.
 */
class ReflectiveMemoryTest extends AbstractMultiNodeTest {

    private static final int GROUP = 1;

    private List<Peer> members;

    @BeforeEach
    void join() throws Exception {
        members = List.of(peer, fabric.third());
        for (var member : members) {
            member.run(ReflectiveMemoryTest::join);
        }
    }

    private static void join(PeerTaskState context) throws Exception {
        var segment = context.node().newSegment(SegmentOptions.inGroup(GROUP, BYTES));
        context.put("member", segment.map());
        segment.offer();
    }

    private static LocalMap memory(PeerTaskState context) {
        return context.get("member", LocalMap.class);
    }

    private static void assertHas(Peer member, long offset, long value) throws Exception {
        member.run(context -> assertThat(memory(context).getLongAcquire(offset)).isEqualTo(value));
    }

    @Test
    void shouldReachEveryMember() throws Exception {
        var map = node.connectGroup(GROUP, TIMEOUT).map();

        map.putLong(64, 42);
        map.putLongRelease(0, 1);
        map.flush();

        for (var member : members) {
            assertHas(member, 0, 1);
            assertHas(member, 64, 42);
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
                    .run(context -> {
                        try (var group = context.node().connectGroup(GROUP, TIMEOUT);
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
    void shouldReachAllMembersByDma() throws Exception {
        var local = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).asPrivate());
        local.prepare();
        TestPattern.fill(local.map().segment(), 5);
        var group = node.connectGroup(GROUP, TIMEOUT);
        var queue = node.newDmaQueue(1);

        queue.transfer(DmaTransferRequest.push(local, 0, group, 0, BYTES).toGroup(), TIMEOUT);

        for (var member : members) {
            member.run(context ->
                    assertThat(TestPattern.holds(memory(context).segment(), 5)).isTrue());
        }
        assertFails(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransferRequest.pull(local, 0, group, 0, BYTES).toGroup()));
    }

    @Test
    void shouldContinueWhenMembersLeaveAndJoin() throws Exception {
        RemoteMap map = node.connectGroup(GROUP, TIMEOUT).map();
        members.getFirst().reset();

        map.putLongRelease(0, 2);
        map.flush();
        assertHas(members.getLast(), 0, 2);

        members.getFirst().run(ReflectiveMemoryTest::join);
        map.putLongRelease(8, 3);
        map.flush();
        for (var member : members) {
            assertHas(member, 8, 3);
        }
    }

    @Test
    void shouldRejectAUnicastConnectionUnlessTheMemberAllowsIt() throws Exception {
        var own = node.newSegment(SegmentOptions.inGroup(GROUP, BYTES).allowUnicast());
        own.offer();
        var memory = own.map();
        var localNode = node.id();
        peer.run(context -> {
            try (var remote = context.node().connect(localNode, GROUP, TIMEOUT);
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
    void shouldRejectAnInvalidOrEmptyGroup() throws Exception {
        assertFails(
                SisciError.OUT_OF_RANGE,
                () -> node.newSegment(SegmentOptions.inGroup(1 << 20, BYTES)));
        assertFails(
                SisciError.ILLEGAL_FLAG,
                () -> node.newSegment(SegmentOptions.inGroup(GROUP, BYTES).asPrivate()));
        assertFails(
                SisciError.ILLEGAL_FLAG,
                () -> node.newSegment(SegmentOptions.of(SEGMENT, BYTES).allowUnicast()));
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connectGroup(GROUP + 1, ofMillis(10)))
                .withMessageStartingWith("No connection to group " + (GROUP + 1));
        var group = node.connectGroup(GROUP, TIMEOUT);
        group.close();
        assertThatIllegalStateException().isThrownBy(group::map);
    }
}
