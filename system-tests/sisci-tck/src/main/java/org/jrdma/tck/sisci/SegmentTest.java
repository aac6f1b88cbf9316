package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalSegment.DisconnectFlag;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;

/** Tests the states and properties of segments. */
class SegmentTest extends AbstractMultiNodeTest {

    private void assertNotFound(int segment) throws Exception {
        var localNode = node.id();
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() ->
                        peer.call(context ->
                                context.node().connect(localNode, segment, ofMillis(10)).id()))
                .withMessageContaining("NO_SUCH_SEGMENT");
    }

    @Test
    void shouldShareMemoryWithAnotherNode() throws Exception {
        var remote = mapOfPeer(SEGMENT, BYTES);

        remote.putLong(8, 42);
        remote.flush();

        assertPeerHas(8, 42);
        peer.run(context -> context.memory(SEGMENT).putLongRelease(16, 43));
        eventually(() -> remote.getLongAcquire(16) == 43);
    }

    @Test
    void shouldBeZeroedAfterCreation() throws Exception {
        var map = node.newSegment(SEGMENT, BYTES).map();

        assertThat(map.segment().mismatch(MemorySegment.ofArray(new byte[(int) BYTES])))
                .isEqualTo(-1);
    }

    @Test
    void shouldReportItsSizeAndIdToBothSides() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var localNode = node.id();

        assertThat(segment.byteSize()).isEqualTo(BYTES);
        assertThat(segment.id()).isEqualTo(SEGMENT);
        peer.run(context -> {
            try (var remote = context.node().connect(localNode, SEGMENT, TIMEOUT)) {
                assertThat(remote.byteSize()).isEqualTo(BYTES);
                assertThat(remote.id()).isEqualTo(SEGMENT);
                assertThat(remote.nodeId()).isEqualTo(localNode);
            }
        });
    }

    @Test
    void shouldRejectASecondOffer() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(segment::offer)
                .withMessageContaining("SCIPrepareSegment failed for segment " + SEGMENT)
                .withMessageContaining("the operation was already performed");
    }

    @Test
    void shouldRejectConnectionsUnlessAvailable() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var localNode = node.id();

        assertNotFound(SEGMENT);
        segment.prepare();
        assertNotFound(SEGMENT);
        segment.makeAvailable();
        peer.run(context -> context.node().connect(localNode, SEGMENT, TIMEOUT).close());
        segment.makeUnavailable();
        assertNotFound(SEGMENT);
    }

    @Test
    void shouldRejectStateChangesInTheWrongOrder() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        assertFails(SisciError.SEGMENT_NOT_PREPARED, segment::makeAvailable);
        assertFails(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        segment.prepare();
        assertFails(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        segment.makeAvailable();
        segment.makeUnavailable();
        assertFails(SisciError.ILLEGAL_OPERATION, segment::makeUnavailable);
        assertFails(SisciError.ILLEGAL_ADAPTER, () -> segment.prepare(99));
    }

    @Test
    void shouldRejectAnIdThatAProcessOfTheNodeUses() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        assertFails(SisciError.SEGMENT_ID_USED, () -> node.newSegment(SEGMENT, BYTES));
        assertFails(
                SisciError.SEGMENT_ID_USED,
                () ->
                        fabric.sameNodePeer()
                                .run(context -> context.node().newSegment(SEGMENT, BYTES)));
        // Another node may use the same id.
        peer.run(context -> context.node().newSegment(SEGMENT, BYTES));
        segment.close();
        node.newSegment(SEGMENT, BYTES).close();
    }

    @Test
    void shouldUseTheFirstFreeIdIfRequested() throws Exception {
        node.newSegment(SEGMENT, BYTES);

        var next = node.newSegment(SegmentOptions.withFreeId(SEGMENT, BYTES));

        assertThat(next.id()).isEqualTo(SEGMENT + 1);
    }

    @Test
    void shouldRejectConnectionsToAPrivateSegment() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).asPrivate());

        segment.prepare();
        segment.map().putLong(0, 1);

        assertFails(SisciError.ILLEGAL_OPERATION, segment::makeAvailable);
    }

    @Test
    void shouldAllowGlobalDmaIfRequested() throws Exception {
        var localNode = node.id();

        node.newSegment(SegmentOptions.of(SEGMENT, BYTES).forGlobalDma()).offer();

        peer.run(context -> context.node().connect(localNode, SEGMENT, TIMEOUT).close());
    }

    @Test
    void shouldShareMemoryOfTheCaller() throws Exception {
        var localNode = node.id();
        try (var arena = Arena.ofShared()) {
            var memory = arena.allocate(BYTES, 65_536);
            TestPattern.fill(memory, 1);
            try (var segment = node.newSegment(SegmentOptions.onForeignMemory(SEGMENT, memory))) {
                segment.offer();
                peer.run(context -> {
                    try (var remote = context.node().connect(localNode, SEGMENT, TIMEOUT);
                            var map = remote.map()) {
                        assertThat(TestPattern.holds(map.segment(), 1)).isTrue();
                        map.putLong(0, 42);
                        map.flush();
                    }
                });
                assertThat(memory.get(TestPattern.LONG, 0)).isEqualTo(42);
                assertThat(segment.map().getLong(0)).isEqualTo(42);
            }
            assertThat(memory.get(TestPattern.LONG, 0)).as("after the close").isEqualTo(42);
        }
    }

    @Test
    void shouldRejectMemoryThatCannotBeShared() {
        try (var arena = Arena.ofConfined()) {
            var unaligned = arena.allocate(2 * BYTES, 65_536).asSlice(8, BYTES);
            assertFails(
                    SisciError.ILLEGAL_ADDRESS,
                    () -> node.newSegment(SegmentOptions.onForeignMemory(SEGMENT, unaligned)));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        SegmentOptions.onForeignMemory(
                                SEGMENT, MemorySegment.ofArray(new byte[4096])));
        assertThatIllegalArgumentException().isThrownBy(() -> SegmentOptions.of(SEGMENT, 0));
    }

    @Test
    void shouldRejectTheUseOfAnEmptySegment() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).empty());

        assertFails(SisciError.ILLEGAL_OPERATION, segment::map);
        assertFails(SisciError.ILLEGAL_OPERATION, segment::prepare);
    }

    /**
     * To attach physical memory, a process needs PCIe hardware and privileges. Without them, the
     * exception must name the C function.
     */
    @Test
    void shouldReportMemoryThatItCannotAttach() throws Exception {
        var segment = node.newSegment(SegmentOptions.of(SEGMENT, BYTES).empty());

        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> segment.attachForeignDeviceMemory(1))
                .withMessageContaining("SCIAttachPhysicalMemory");
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> segment.attachForeignPhysicalMemory(1))
                .withMessageContaining("SCIAttachPhysicalMemory");
    }

    @Test
    void shouldAllowOtherProcessesOfTheNodeToAttachOnceShared() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var map = segment.map();
        assertFails(
                SisciError.ACCESS,
                () -> fabric.sameNodePeer().run(context -> context.node().attach(SEGMENT)));

        segment.share();
        fabric.sameNodePeer()
                .run(context -> {
                    var attached = context.node().attach(SEGMENT);
                    assertThat(attached.byteSize()).isEqualTo(BYTES);
                    attached.map().putLongRelease(8, 42);
                    // This also applies to the other process that has the segment.
                    attached.offer();
                });

        assertThat(map.getLongAcquire(8)).isEqualTo(42);
        var localNode = node.id();
        peer.run(context -> context.node().connect(localNode, SEGMENT, TIMEOUT).close());
        assertFails(SisciError.NO_SUCH_SEGMENT, () -> node.attach(SEGMENT + 1));
    }

    @Test
    void shouldCloseAfterAnotherProcessHasMadeItUnavailable() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        segment.share();
        fabric.sameNodePeer()
                .run(context -> {
                    try (var attached = context.node().attach(SEGMENT)) {
                        attached.makeUnavailable();
                    }
                });

        segment.close();

        node.newSegment(SEGMENT, BYTES).close(); // The id is free again.
    }

    @Test
    void shouldStayAvailableWhenAnAttachedProcessDetaches() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.share();
        fabric.sameNodePeer()
                .run(context -> {
                    try (var attached = context.node().attach(SEGMENT)) {
                        attached.offer();
                    }
                });

        var localNode = node.id();
        peer.run(context -> context.node().connect(localNode, SEGMENT, TIMEOUT).close());
    }

    @Test
    void shouldBeRemovedWithItsNodeIfAPeerDoesNotDisconnect() throws Exception {
        var other = fabric.sisci().open();
        var segment = other.newSegment(SEGMENT, BYTES);
        segment.offer();
        var localNode = node.id();
        peer.run(context ->
                context.put("remote", context.node().connect(localNode, SEGMENT, TIMEOUT)));
        segment.close(ofMillis(1)); // Fails, because a peer is connected.

        other.close();

        node.newSegment(SEGMENT, BYTES).close(); // The id is free again.
        peer.run(context -> {
            var remote = context.get("remote", RemoteSegment.class);
            assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        });
    }

    @Test
    void shouldNotBeRemovedWhileAPeerIsConnected() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var localNode = node.id();
        peer.run(context ->
                context.put("remote", context.node().connect(localNode, SEGMENT, TIMEOUT)));
        var release =
                peer.submit(context -> {
                    Thread.sleep(100);
                    context.get("remote", RemoteSegment.class).close();
                    return System.nanoTime();
                });
        var start = System.nanoTime();

        segment.close();

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(ofMillis(50), TIMEOUT);
        release.get();
        node.newSegment(SEGMENT, BYTES).close(); // The id is free again.
    }

    @Test
    void shouldRejectFurtherPeersAndKeepConnectedOnesWhenUnavailable() throws Exception {
        var map = mapOfPeer(SEGMENT, BYTES);

        peer.run(context -> context.segment(SEGMENT).makeUnavailable());

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(peer.node(), SEGMENT, ofMillis(10)));
        map.putLong(0, 5);
        map.flush();
        assertPeerHas(0, 5);
    }

    @Test
    void shouldRequestConnectedPeersToDisconnect() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT)) {

            peer.run(context -> context.segment(SEGMENT).makeUnavailable(0, DisconnectFlag.NOTIFY));

            assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        }
    }

    @Test
    void shouldDisconnectConnectedPeersByForce() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
                var map = remote.map()) {
            peer.run(context ->
                    context.segment(SEGMENT).makeUnavailable(0, DisconnectFlag.FORCE_DISCONNECT));
            assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);

            map.putLong(0, 5);
            map.flush();

            eventually(() -> map.getLong(8) == -1);
            assertPeerHas(0, 0);
            peer.run(context ->
                    // The call succeeds, although a peer still has a connection.
                    context.segment(SEGMENT).close());
        }
    }

    @Test
    void shouldHaveAnIoAddress() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        var local = node.newSegment(SEGMENT, BYTES);
        local.prepare();

        assertThat(local.ioAddress()).isNotZero();
        assertThat(node.connect(peer.node(), SEGMENT, TIMEOUT).ioAddress()).isNotZero();
    }

    @Test
    void shouldRejectUseAfterClose() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);

        segment.close();
        segment.close();

        assertThatIllegalStateException()
                .isThrownBy(segment::offer)
                .withMessage("segment %d of %s is closed", SEGMENT, node);
        assertThatIllegalStateException().isThrownBy(segment::map);
        assertThatIllegalStateException().isThrownBy(() -> segment.nextEvent(TIMEOUT));
    }
}
