package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaChannel.Engine;
import org.jrdma.sisci.DmaEngine;
import org.jrdma.sisci.DmaQueue;
import org.jrdma.sisci.DmaTransfer;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.model.DmaPiece;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bytes that move without the CPU. */
class DmaTest extends NodesTest {

    private static final int LOCAL = 701;
    private static final int ENTRIES = 4;

    /** So long that a transfer is under way for a while. */
    private static final long MUCH = 32 << 20;

    private RemoteSegment remote;
    private LocalSegment local;
    private LocalMap memory;
    private DmaQueue queue;

    @BeforeEach
    void prepare() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        remote = node.connect(peer.node(), SEGMENT, SOON);
        local = node.newSegment(SegmentOptions.of(LOCAL, BYTES).forThisSideOnly());
        local.prepare();
        memory = local.map();
        Memory.fill(memory.segment(), 1);
        queue = node.newDmaQueue(ENTRIES);
    }

    private void peerHas(long offset, long bytes, MemorySegment expected) throws Exception {
        var there =
                peer.ask(party ->
                        party.memory(SEGMENT)
                                .segment()
                                .asSlice(offset, bytes)
                                .toArray(Memory.BYTE));
        assertThat(MemorySegment.ofArray(there).mismatch(expected)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPush(DmaEngine engine) throws Exception {
        assertThat(queue.state()).isEqualTo(DmaState.IDLE);

        queue.transfer(DmaTransfer.push(local, 64, remote, 128, 4096).by(engine), SOON);

        assertThat(queue.state()).isEqualTo(DmaState.DONE);
        peerHas(128, 4096, memory.segment().asSlice(64, 4096));
        peerHas(0, 128, MemorySegment.ofArray(new byte[128]));
        peerHas(4224, 128, MemorySegment.ofArray(new byte[128]));
    }

    @Test
    void shouldPull() throws Exception {
        peer.tell(party -> Memory.fill(party.memory(SEGMENT).segment(), 2));

        queue.transfer(DmaTransfer.pull(local, 0, remote, 0, BYTES), SOON);

        assertThat(Memory.holds(memory.segment(), 2)).isTrue();
    }

    @Test
    void shouldMovePieces() throws Exception {
        var pieces = List.of(new DmaPiece(0, 4096, 64), new DmaPiece(1024, 512, 128));

        queue.transfer(DmaTransfer.pushPieces(local, remote, pieces), SOON);
        peerHas(4096, 64, memory.segment().asSlice(0, 64));
        peerHas(512, 128, memory.segment().asSlice(1024, 128));
        peerHas(0, 512, MemorySegment.ofArray(new byte[512]));

        peer.tell(party -> Memory.fill(party.memory(SEGMENT).segment(), 7));
        queue.transfer(DmaTransfer.pullPieces(local, remote, pieces), SOON);
        var pattern = MemorySegment.ofArray(Memory.pattern(7, (int) BYTES));
        assertThat(memory.segment().asSlice(0, 64).mismatch(pattern.asSlice(4096, 64)))
                .isEqualTo(-1);
        assertThat(memory.segment().asSlice(1024, 128).mismatch(pattern.asSlice(512, 128)))
                .isEqualTo(-1);
    }

    @Test
    void shouldMoveMemoryOfTheCallers() throws Exception {
        try (var arena = Arena.ofShared()) {
            var own = arena.allocate(BYTES);
            Memory.fill(own, 3);

            queue.transfer(DmaTransfer.pushForeign(own, remote, 0), SOON);
            peerHas(0, BYTES, own);

            peer.tell(party -> Memory.fill(party.memory(SEGMENT).segment(), 4));
            queue.transfer(DmaTransfer.pullForeign(own.asSlice(0, 512), remote, 512), SOON);
            assertThat(
                            own.asSlice(0, 512)
                                    .mismatch(
                                            MemorySegment.ofArray(Memory.pattern(4, 1024))
                                                    .asSlice(512)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldTellTheEndByAFuture() throws Exception {
        var thread = new CompletableFuture<Thread>();

        queue.start(DmaTransfer.push(local, 0, remote, 0, BYTES))
                .thenRun(() -> thread.complete(Thread.currentThread()))
                .get(10, TimeUnit.SECONDS);

        peerHas(0, BYTES, memory.segment());
        assertThat(thread.get(10, TimeUnit.SECONDS).isVirtual())
                .as("not the library's thread")
                .isTrue();
    }

    @Test
    void shouldBePolled() throws Exception {
        queue.post(DmaTransfer.push(local, 0, remote, 0, BYTES));

        eventually(() -> queue.state() == DmaState.DONE);
        peerHas(0, BYTES, memory.segment());
        queue.post(DmaTransfer.pull(local, 0, remote, 0, BYTES)); // again, without more ado
        eventually(() -> queue.state() == DmaState.DONE);
    }

    @Test
    void shouldRefuseWhatCannotBeMoved() throws Exception {
        var unprepared = node.newSegment(LOCAL + 1, BYTES);

        refuses(
                SisciError.OUT_OF_RANGE,
                () -> queue.start(DmaTransfer.push(local, 1, remote, 0, BYTES)));
        refuses(
                SisciError.OUT_OF_RANGE,
                () -> queue.start(DmaTransfer.push(local, 0, remote, 1, BYTES)));
        refuses(
                SisciError.SEGMENT_NOT_PREPARED,
                () -> queue.start(DmaTransfer.push(unprepared, 0, remote, 0, 8)));
        refuses(
                SisciError.TOO_MANY,
                () ->
                        queue.start(
                                DmaTransfer.pushPieces(
                                        local,
                                        remote,
                                        List.of(
                                                piece(0), piece(1), piece(2), piece(3),
                                                piece(4)))));
        refuses(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransfer.push(local, 0, group(), 0, 8)));
        assertThatIllegalArgumentException().isThrownBy(() -> new DmaPiece(0, 0, 1L << 32));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransfer.push(local, 0, remote, 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransfer.pushPieces(local, remote, List.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        DmaTransfer.pushForeign(MemorySegment.ofArray(new byte[8]), remote, 0));
        queue.transfer(DmaTransfer.push(local, 0, remote, 0, 8), SOON); // it is as good as before
    }

    private static DmaPiece piece(int number) {
        return new DmaPiece(8L * number, 8L * number, 8);
    }

    /** Without {@link DmaTransfer#toGroup}. */
    private RemoteSegment group() throws IOException {
        node.newSegment(SegmentOptions.inGroup(1, BYTES)).offer();
        return node.connectGroup(1, SOON);
    }

    @Test
    void shouldOnlyReadWhatIsPreparedForThat() throws Exception {
        var source = node.newSegment(LOCAL + 1, BYTES);
        source.prepareAsDmaSource(0);

        queue.transfer(DmaTransfer.push(source, 0, remote, 0, BYTES), SOON);

        refuses(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransfer.pull(source, 0, remote, 0, BYTES)));
    }

    /** One that is under way for a while. */
    private DmaTransfer longTransfer() throws Exception {
        peer.tell(party -> party.offer(SEGMENT + 2, MUCH));
        var much = node.newSegment(LOCAL + 2, MUCH);
        much.prepare();
        return DmaTransfer.push(much, 0, node.connect(peer.node(), SEGMENT + 2, SOON), 0, MUCH);
    }

    @Test
    void shouldMakeOneTransferAtATimeAndEndItEarly() throws Exception {
        var transfer = longTransfer();
        var refused = 0;
        var aborted = 0;
        for (var i = 0; i < 200 && (refused == 0 || aborted == 0); i++) {
            var future = queue.start(transfer);
            try {
                queue.post(transfer);
                eventually(() -> queue.state() != DmaState.POSTED); // the first had ended
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("is still making a push of");
                refused++;
            }
            queue.abort();
            try {
                future.get(10, TimeUnit.SECONDS);
            } catch (ExecutionException e) {
                assertThat(e).hasCauseInstanceOf(SisciException.class);
                assertThat(queue.state()).isEqualTo(DmaState.ABORTED);
                aborted++;
            }
            eventually(() -> queue.state() != DmaState.POSTED);
        }
        assertThat(refused).isPositive();
        assertThat(aborted).isPositive();
        queue.transfer(DmaTransfer.push(local, 0, remote, 0, 8), SOON); // it is as good as before
    }

    @Test
    void shouldEndAWaitByItsDeadline() throws Exception {
        var transfer = longTransfer();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> {
                    for (var i = 0; i < 200; i++) {
                        queue.transfer(transfer, ofNanos(1));
                    }
                })
                .withMessageStartingWith("No end of push of");

        eventually(() -> queue.state() != DmaState.POSTED);
    }

    @Test
    void shouldEndWhatIsUnderWayWhenItIsClosed() throws Exception {
        peer.tell(party -> party.offer(SEGMENT + 2, MUCH));
        var much = node.newSegment(LOCAL + 2, MUCH);
        much.prepare();
        var big = node.connect(peer.node(), SEGMENT + 2, SOON);
        queue.post(DmaTransfer.push(much, 0, big, 0, MUCH));

        queue.close();
        much.close(ofMillis(1)); // nothing holds them any more
        big.close(ofMillis(1));

        node.newSegment(LOCAL + 2, BYTES).close();
        assertThatIllegalStateException().isThrownBy(queue::state);
    }

    @Test
    void shouldEndEveryFutureThoughItsNodeIsClosedMeanwhile() throws Exception {
        var transfer = longTransfer();
        var future = queue.start(transfer);

        node.close();

        assertThat(future.handle((_, _) -> "ended")).succeedsWithin(SOON);
    }

    @Test
    void shouldHaveLetGoOfTheMemoryWhenAWaitHasEnded() throws Exception {
        peer.tell(party -> party.offer(SEGMENT + 2, MUCH));
        var big = node.connect(peer.node(), SEGMENT + 2, SOON);
        for (var i = 0; i < 20; i++) {
            try (var arena = Arena.ofShared()) {
                var transfer = DmaTransfer.pullForeign(arena.allocate(MUCH, 4096), big, 0);

                assertThatExceptionOfType(FabricTimeoutException.class)
                        .isThrownBy(() -> queue.transfer(transfer, ofNanos(1)));

                assertThat(queue.state()).isNotEqualTo(DmaState.POSTED);
            }
        }
    }

    @Test
    void shouldGoByAChannelThatWasTaken() throws Exception {
        try (var channel = node.requestDmaChannel(Engine.ANY)) {
            channel.assign(queue);
            channel.prepare(local);
            channel.prepare(remote);

            queue.transfer(DmaTransfer.push(local, 0, remote, 0, BYTES), SOON);

            peerHas(0, BYTES, memory.segment());
            channel.unprepare(local);
            channel.unprepare(remote);
            refuses(SisciError.ILLEGAL_OPERATION, () -> channel.unprepare(remote));
        }
    }

    @Test
    void shouldHaveAChannelForItselfUnlessItIsShared() throws Exception {
        var first = node.requestDmaChannel(Engine.SYSTEM, 0, false);
        refuses(SisciError.BUSY, () -> node.requestDmaChannel(Engine.SYSTEM, 0, false));
        first.close();

        try (var one = node.requestDmaChannel(Engine.SYSTEM, 0, true);
                var other = node.requestDmaChannel(Engine.SYSTEM, 0, true)) {
            assertThat(one.isOpen() && other.isOpen()).isTrue();
        }
    }

    @Test
    void shouldRefuseAQueueThatCannotBe() {
        refuses(SisciError.ILLEGAL_PARAMETER, () -> node.newDmaQueue(0));
        refuses(SisciError.TOO_MANY, () -> node.newDmaQueue(Integer.MAX_VALUE));
    }
}
