package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalSegment.Parting;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;

/** What a segment can be, and become. */
class SegmentTest extends NodesTest {

    private void nobodyFinds(int segment) throws Exception {
        var here = node.id();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() ->
                        peer.ask(party -> party.node().connect(here, segment, ofMillis(10)).id()))
                .withMessageContaining("NO_SUCH_SEGMENT");
    }

    @Test
    void shouldShareItsMemoryWithAnotherNode() throws Exception {
        var remote = mapOfPeer(SEGMENT, BYTES);

        remote.putLong(8, 42);
        remote.flush();

        peerHas(8, 42);
        peer.tell(party -> party.memory(SEGMENT).putLongRelease(16, 43));
        eventually(() -> remote.getLongAcquire(16) == 43);
    }

    @Test
    void shouldBeginAllZero() throws Exception {
        var map = node.newSegment(SEGMENT, BYTES).map();

        assertThat(map.segment().mismatch(MemorySegment.ofArray(new byte[(int) BYTES])))
                .isEqualTo(-1);
    }

    @Test
    void shouldTellBothSidesItsSizeAndItsNumber() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var here = node.id();

        assertThat(segment.byteSize()).isEqualTo(BYTES);
        assertThat(segment.id()).isEqualTo(SEGMENT);
        peer.tell(party -> {
            try (var remote = party.node().connect(here, SEGMENT, SOON)) {
                assertThat(remote.byteSize()).isEqualTo(BYTES);
                assertThat(remote.id()).isEqualTo(SEGMENT);
                assertThat(remote.nodeId()).isEqualTo(here);
            }
        });
    }

    @Test
    void shouldSayWhyItCannotBeOfferedTwice() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(segment::offer)
                .withMessageContaining("SCIPrepareSegment failed for segment " + SEGMENT)
                .withMessageContaining("it has been done already");
    }

    @Test
    void shouldBeFoundOnlyWhileItIsAvailable() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var here = node.id();

        nobodyFinds(SEGMENT);
        segment.prepare();
        nobodyFinds(SEGMENT);
        segment.makeAvailable();
        peer.tell(party -> party.node().connect(here, SEGMENT, SOON).close());
        segment.makeUnavailable();
        nobodyFinds(SEGMENT);
    }

    @Test
    void shouldTakeItsStepsInTheirOrderOnly() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        refuses(SisciError.SEGMENT_NOT_PREPARED, segment::makeAvailable);
        refuses(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        segment.prepare();
        refuses(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        segment.makeAvailable();
        segment.makeUnavailable();
        refuses(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        refuses(SisciError.ILLEGAL_ADAPTER, () -> segment.prepare(99));
    }

    @Test
    void shouldHaveAnIdOfItsOwnAmongTheNodesProcesses() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        refuses(SisciError.SEGMENT_ID_USED, () -> node.newSegment(SEGMENT, BYTES));
        refuses(
                SisciError.SEGMENT_ID_USED,
                () -> fabric.colleague().tell(party -> party.node().newSegment(SEGMENT, BYTES)));
        peer.tell(party -> party.node().newSegment(SEGMENT, BYTES)); // of another node
        segment.close();
        node.newSegment(SEGMENT, BYTES).close();
    }

    @Test
    void shouldTakeTheFirstFreeIdIfItMay() throws Exception {
        node.newSegment(SEGMENT, BYTES);

        var next = node.newSegment(SegmentOptions.withFreeId(SEGMENT, BYTES));

        assertThat(next.id()).isEqualTo(SEGMENT + 1);
    }

    @Test
    void shouldBeForThisSideOnlyIfAskedTo() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).forThisSideOnly());

        segment.prepare();
        segment.map().putLong(0, 1);

        refuses(SisciError.ILLEGAL_OPERATION, segment::makeAvailable);
    }

    @Test
    void shouldBeReachableByGlobalDmaIfAskedTo() throws Exception {
        var here = node.id();

        node.newSegment(SegmentOptions.of(SEGMENT, BYTES).forGlobalDma()).offer();

        peer.tell(party -> party.node().connect(here, SEGMENT, SOON).close());
    }

    @Test
    void shouldGiveAwayMemoryOfTheCallers() throws Exception {
        var here = node.id();
        try (var arena = Arena.ofShared()) {
            var memory = arena.allocate(BYTES, 65_536);
            Memory.fill(memory, 1);
            try (var segment = node.newSegment(SegmentOptions.onForeignMemory(SEGMENT, memory))) {
                segment.offer();
                peer.tell(party -> {
                    try (var remote = party.node().connect(here, SEGMENT, SOON);
                            var map = remote.map()) {
                        assertThat(Memory.holds(map.segment(), 1)).isTrue();
                        map.putLong(0, 42);
                        map.flush();
                    }
                });
                assertThat(memory.get(Memory.LONG, 0)).isEqualTo(42);
                assertThat(segment.map().getLong(0)).isEqualTo(42);
            }
            assertThat(memory.get(Memory.LONG, 0)).as("afterwards too").isEqualTo(42);
        }
    }

    @Test
    void shouldRefuseMemoryThatCannotBeGivenAway() {
        try (var arena = Arena.ofConfined()) {
            var crooked = arena.allocate(2 * BYTES, 65_536).asSlice(8, BYTES);
            refuses(
                    SisciError.ILLEGAL_ADDRESS,
                    () -> node.newSegment(SegmentOptions.onForeignMemory(SEGMENT, crooked)));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        SegmentOptions.onForeignMemory(
                                SEGMENT, MemorySegment.ofArray(new byte[4096])));
        assertThatIllegalArgumentException().isThrownBy(() -> SegmentOptions.of(SEGMENT, 0));
    }

    @Test
    void shouldHaveNoUseWhileItIsEmpty() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).empty());

        refuses(SisciError.ILLEGAL_OPERATION, segment::map);
        refuses(SisciError.ILLEGAL_OPERATION, segment::prepare);
    }

    /** Either a bus is there and privileges for it, or a refusal that says so. */
    @Test
    void shouldSayWhatItCannotAttach() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).empty());

        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> segment.attachForeignDeviceMemory(1))
                .withMessageContaining("SCIAttachPhysicalMemory");
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> segment.attachForeignPhysicalMemory(1))
                .withMessageContaining("SCIAttachPhysicalMemory");
    }

    @Test
    void shouldLetOtherProcessesOfItsNodeAttachOnceItIsShared() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var map = segment.map();
        refuses(
                SisciError.ACCESS,
                () -> fabric.colleague().tell(party -> party.node().attach(SEGMENT)));

        segment.share();
        fabric.colleague()
                .tell(party -> {
                    var attached = party.node().attach(SEGMENT);
                    assertThat(attached.byteSize()).isEqualTo(BYTES);
                    attached.map().putLongRelease(8, 42);
                    attached.offer(); // on behalf of all
                });

        assertThat(map.getLongAcquire(8)).isEqualTo(42);
        var here = node.id();
        peer.tell(party -> party.node().connect(here, SEGMENT, SOON).close());
        refuses(SisciError.NO_SUCH_SEGMENT, () -> node.attach(SEGMENT + 1));
    }

    @Test
    void shouldGoAlthoughAnotherProcessHasMadeItUnavailable() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        segment.share();
        fabric.colleague()
                .tell(party -> {
                    try (var attached = party.node().attach(SEGMENT)) {
                        attached.makeUnavailable();
                    }
                });

        segment.close();

        node.newSegment(SEGMENT, BYTES).close(); // the id is free again
    }

    @Test
    void shouldStayAvailableWhenAnotherProcessLetsGoOfIt() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.share();
        fabric.colleague()
                .tell(party -> {
                    try (var attached = party.node().attach(SEGMENT)) {
                        attached.offer();
                    }
                });

        var here = node.id();
        peer.tell(party -> party.node().connect(here, SEGMENT, SOON).close());
    }

    @Test
    void shouldGoWithItsNodeWhereAPeerDoesNotLetGo() throws Exception {
        var other = fabric.sisci().open();
        var segment = other.newSegment(SEGMENT, BYTES);
        segment.offer();
        var here = node.id();
        peer.tell(party -> party.keep("remote", party.node().connect(here, SEGMENT, SOON)));
        segment.close(ofMillis(1)); // in vain

        other.close();

        node.newSegment(SEGMENT, BYTES).close(); // the id is free again
        peer.tell(party -> {
            var remote = party.kept("remote", RemoteSegment.class);
            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        });
    }

    @Test
    void shouldStayInUseAsLongAsAPeerIsConnected() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var here = node.id();
        peer.tell(party -> party.keep("remote", party.node().connect(here, SEGMENT, SOON)));
        var release =
                peer.start(party -> {
                    Thread.sleep(100);
                    party.kept("remote", RemoteSegment.class).close();
                    return System.nanoTime();
                });
        var start = System.nanoTime();

        segment.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(ofMillis(50), SOON);
        release.get();
        node.newSegment(SEGMENT, BYTES).close(); // the id is free again
    }

    @Test
    void shouldLetNobodyMoreInAndKeepThoseWhoAreInWhenItIsMadeUnavailable() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);

        peer.tell(party -> party.segment(SEGMENT).makeUnavailable());

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(peer.node(), SEGMENT, ofMillis(10)));
        map.putLong(0, 5);
        map.flush();
        peerHas(0, 5);
    }

    @Test
    void shouldAskThoseWhoAreInToLeave() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, SOON)) {

            peer.tell(party -> party.segment(SEGMENT).makeUnavailable(0, Parting.NOTIFY));

            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        }
    }

    @Test
    void shouldPutThoseWhoAreInOut() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, SOON);
                var map = remote.map()) {
            peer.tell(party -> party.segment(SEGMENT).makeUnavailable(0, Parting.FORCE_DISCONNECT));
            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);

            map.putLong(0, 5);
            map.flush();

            eventually(() -> map.getLong(8) == -1);
            peerHas(0, 0);
            peer.tell(party -> party.segment(SEGMENT).close()); // though a peer is still there
        }
    }

    @Test
    void shouldHaveAnAddressOnTheBus() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        var local = node.newSegment(SEGMENT, BYTES);
        local.prepare();

        assertThat(local.ioAddress()).isNotZero();
        assertThat(node.connect(peer.node(), SEGMENT, SOON).ioAddress()).isNotZero();
    }

    @Test
    void shouldRefuseToBeUsedAfterItsClose() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        segment.close();
        segment.close();

        assertThatIllegalStateException()
                .isThrownBy(segment::offer)
                .withMessage("segment %d of %s is closed", SEGMENT, node);
        assertThatIllegalStateException().isThrownBy(segment::map);
        assertThatIllegalStateException().isThrownBy(() -> segment.nextEvent(SOON));
    }
}
