package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.DmaChannel.Engine;
import org.jrdma.sisci.DmaEngineKind;
import org.jrdma.sisci.DmaQueue;
import org.jrdma.sisci.DmaTransferRequest;
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

/** Tests DMA transfers. */
class DmaTest extends AbstractMultiNodeTest {

    private static final int LOCAL = 701;
    private static final int ENTRIES = 4;

    /**
     * The size of a transfer that takes so long that it is still running when the test checks its
     * state.
     */
    private static final long LARGE_BYTES = 32 << 20;

    private RemoteSegment remote;
    private LocalSegment local;
    private LocalMap memory;
    private DmaQueue queue;

    @BeforeEach
    void prepare() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
        local = node.newSegment(SegmentOptions.of(LOCAL, BYTES).asPrivate());
        local.prepare();
        memory = local.map();
        TestPattern.fill(memory.segment(), 1);
        queue = node.newDmaQueue(ENTRIES);
    }

    private void assertPeerHas(long offset, long bytes, MemorySegment expected) throws Exception {
        var actual =
                peer.call(context ->
                        context.memory(SEGMENT)
                                .segment()
                                .asSlice(offset, bytes)
                                .toArray(TestPattern.BYTE));
        assertThat(MemorySegment.ofArray(actual).mismatch(expected)).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPush(DmaEngineKind engine) throws Exception {
        assertThat(queue.state()).isEqualTo(DmaState.IDLE);

        queue.transfer(
                DmaTransferRequest.push(local, 64, remote, 128, 4096).withEngine(engine), TIMEOUT);

        assertThat(queue.state()).isEqualTo(DmaState.DONE);
        assertPeerHas(128, 4096, memory.segment().asSlice(64, 4096));
        assertPeerHas(0, 128, MemorySegment.ofArray(new byte[128]));
        assertPeerHas(4224, 128, MemorySegment.ofArray(new byte[128]));
    }

    @Test
    void shouldPull() throws Exception {
        peer.run(context -> TestPattern.fill(context.memory(SEGMENT).segment(), 2));

        queue.transfer(DmaTransferRequest.pull(local, 0, remote, 0, BYTES), TIMEOUT);

        assertThat(TestPattern.holds(memory.segment(), 2)).isTrue();
    }

    @Test
    void shouldTransferPieces() throws Exception {
        var pieces = List.of(new DmaPiece(0, 4096, 64), new DmaPiece(1024, 512, 128));

        queue.transfer(DmaTransferRequest.pushPieces(local, remote, pieces), TIMEOUT);
        assertPeerHas(4096, 64, memory.segment().asSlice(0, 64));
        assertPeerHas(512, 128, memory.segment().asSlice(1024, 128));
        assertPeerHas(0, 512, MemorySegment.ofArray(new byte[512]));

        peer.run(context -> TestPattern.fill(context.memory(SEGMENT).segment(), 7));
        queue.transfer(DmaTransferRequest.pullPieces(local, remote, pieces), TIMEOUT);
        var pattern = MemorySegment.ofArray(TestPattern.pattern(7, (int) BYTES));
        assertThat(memory.segment().asSlice(0, 64).mismatch(pattern.asSlice(4096, 64)))
                .isEqualTo(-1);
        assertThat(memory.segment().asSlice(1024, 128).mismatch(pattern.asSlice(512, 128)))
                .isEqualTo(-1);
    }

    @Test
    void shouldTransferMemoryOfTheCaller() throws Exception {
        try (var arena = Arena.ofShared()) {
            var own = arena.allocate(BYTES);
            TestPattern.fill(own, 3);

            queue.transfer(DmaTransferRequest.pushForeign(own, remote, 0), TIMEOUT);
            assertPeerHas(0, BYTES, own);

            peer.run(context -> TestPattern.fill(context.memory(SEGMENT).segment(), 4));
            queue.transfer(
                    DmaTransferRequest.pullForeign(own.asSlice(0, 512), remote, 512), TIMEOUT);
            assertThat(
                            own.asSlice(0, 512)
                                    .mismatch(
                                            MemorySegment.ofArray(TestPattern.pattern(4, 1024))
                                                    .asSlice(512)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldCompleteTheFutureOnAVirtualThread() throws Exception {
        var thread = Thread.currentThread();
        for (var attempt = 0; thread == Thread.currentThread() && attempt < 1_000; attempt++) {
            var completing = new CompletableFuture<Thread>();
            queue.start(DmaTransferRequest.push(local, 0, remote, 0, BYTES))
                    .thenRun(() -> completing.complete(Thread.currentThread()))
                    .get(10, TimeUnit.SECONDS);
            thread =
                    // The future may also run the action on this thread, if the transfer ended
                    // before thenRun was called.
                    completing.get();
        }

        assertPeerHas(0, BYTES, memory.segment());
        assertThat(thread.isVirtual())
                .as("the stage runs on a virtual thread, not on a thread of the library")
                .isTrue();
    }

    @Test
    void shouldReportTheStateOfAPostedTransfer() throws Exception {
        queue.post(DmaTransferRequest.push(local, 0, remote, 0, BYTES));

        eventually(() -> queue.state() == DmaState.DONE);
        assertPeerHas(0, BYTES, memory.segment());
        queue.post(
                DmaTransferRequest.pull(
                        local, 0, remote, 0, BYTES)); // The queue can be used again.
        eventually(() -> queue.state() == DmaState.DONE);
    }

    @Test
    void shouldRejectInvalidTransfers() throws Exception {
        var unprepared = node.newSegment(LOCAL + 1, BYTES);

        assertFails(
                SisciError.OUT_OF_RANGE,
                () -> queue.start(DmaTransferRequest.push(local, 1, remote, 0, BYTES)));
        assertFails(
                SisciError.OUT_OF_RANGE,
                () -> queue.start(DmaTransferRequest.push(local, 0, remote, 1, BYTES)));
        assertFails(
                SisciError.SEGMENT_NOT_PREPARED,
                () -> queue.start(DmaTransferRequest.push(unprepared, 0, remote, 0, 8)));
        assertFails(
                SisciError.TOO_MANY,
                () ->
                        queue.start(
                                DmaTransferRequest.pushPieces(
                                        local,
                                        remote,
                                        List.of(
                                                piece(0), piece(1), piece(2), piece(3),
                                                piece(4)))));
        assertFails(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransferRequest.push(local, 0, group(), 0, 8)));
        assertThatIllegalArgumentException().isThrownBy(() -> new DmaPiece(0, 0, 1L << 32));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransferRequest.push(local, 0, remote, 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransferRequest.pushPieces(local, remote, List.of()));
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        DmaTransferRequest.pushForeign(
                                MemorySegment.ofArray(new byte[8]), remote, 0));
        queue.transfer(
                DmaTransferRequest.push(local, 0, remote, 0, 8),
                TIMEOUT); // The queue is still usable.
    }

    private static DmaPiece piece(int number) {
        return new DmaPiece(8L * number, 8L * number, 8);
    }

    /**
     * Connects to a reflective memory group. The tests pass the result to a transfer without {@link
     * DmaTransferRequest#toGroup}, which must be rejected.
     */
    private RemoteSegment group() throws IOException {
        node.newSegment(SegmentOptions.inGroup(1, BYTES)).offer();
        return node.connectGroup(1, TIMEOUT);
    }

    @Test
    void shouldRejectAPullIntoASegmentPreparedOnlyAsSource() throws Exception {
        var source = node.newSegment(LOCAL + 1, BYTES);
        source.prepareAsDmaSource(0);

        queue.transfer(DmaTransferRequest.push(source, 0, remote, 0, BYTES), TIMEOUT);

        assertFails(
                SisciError.ILLEGAL_OPERATION,
                () -> queue.start(DmaTransferRequest.pull(source, 0, remote, 0, BYTES)));
    }

    /** Returns a transfer of LARGE_BYTES, which is still running when the test checks its state. */
    private DmaTransferRequest longTransfer() throws Exception {
        peer.run(context -> context.offer(SEGMENT + 2, LARGE_BYTES));
        var largeSegment = node.newSegment(LOCAL + 2, LARGE_BYTES);
        largeSegment.prepare();
        return DmaTransferRequest.push(
                largeSegment, 0, node.connect(peer.node(), SEGMENT + 2, TIMEOUT), 0, LARGE_BYTES);
    }

    @Test
    void shouldRejectASecondTransferAndAbortTheFirst() throws Exception {
        var transfer = longTransfer();
        var refused = 0;
        var aborted = 0;
        for (var i = 0; i < 200 && (refused == 0 || aborted == 0); i++) {
            var future = queue.start(transfer);
            try {
                queue.post(transfer);
                eventually(() -> queue.state() != DmaState.POSTED); // The first transfer had ended.
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("it is still executing a push of");
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
        queue.transfer(
                DmaTransferRequest.push(local, 0, remote, 0, 8),
                TIMEOUT); // The queue is still usable.
    }

    @Test
    void shouldAbortATransferWhenTheTimeoutExpires() throws Exception {
        var transfer = longTransfer();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> {
                    for (var i = 0; i < 200; i++) {
                        queue.transfer(transfer, ofNanos(1));
                    }
                })
                .withMessageStartingWith("The push of");

        eventually(() -> queue.state() != DmaState.POSTED);
    }

    @Test
    void shouldAbortTheTransferWhenTheQueueIsClosed() throws Exception {
        peer.run(context -> context.offer(SEGMENT + 2, LARGE_BYTES));
        var largeSegment = node.newSegment(LOCAL + 2, LARGE_BYTES);
        largeSegment.prepare();
        var big = node.connect(peer.node(), SEGMENT + 2, TIMEOUT);
        queue.post(DmaTransferRequest.push(largeSegment, 0, big, 0, LARGE_BYTES));

        queue.close();
        largeSegment.close(ofMillis(1)); // No transfer uses the memory any more.
        big.close(ofMillis(1));

        node.newSegment(LOCAL + 2, BYTES).close();
        assertThatIllegalStateException().isThrownBy(queue::state);
    }

    @Test
    void shouldCompleteTheFutureWhenTheNodeIsClosed() throws Exception {
        var transfer = longTransfer();
        var future = queue.start(transfer);

        node.close();

        assertThat(future.handle((_, _) -> "ended")).succeedsWithin(TIMEOUT);
    }

    @Test
    void shouldNotAccessTheMemoryAfterAWaitHasEnded() throws Exception {
        peer.run(context -> context.offer(SEGMENT + 2, LARGE_BYTES));
        var big = node.connect(peer.node(), SEGMENT + 2, TIMEOUT);
        var timeouts = 0;
        for (var i = 0; i < 20; i++) {
            try (var arena = Arena.ofShared()) {
                var transfer =
                        DmaTransferRequest.pullForeign(arena.allocate(LARGE_BYTES, 4096), big, 0);

                try {
                    queue.transfer(transfer, ofNanos(1));
                } catch (FabricTimeoutException _) {
                    timeouts++; // A transfer may also complete before the wait begins.
                }

                assertThat(queue.state()).isNotEqualTo(DmaState.POSTED);
            }
        }
        assertThat(timeouts).isPositive();
    }

    @Test
    void shouldTransferThroughAnAllocatedChannel() throws Exception {
        try (var channel = node.requestDmaChannel(Engine.ANY)) {
            channel.assign(queue);
            channel.prepare(local);
            channel.prepare(remote);

            queue.transfer(DmaTransferRequest.push(local, 0, remote, 0, BYTES), TIMEOUT);

            assertPeerHas(0, BYTES, memory.segment());
            channel.unprepare(local);
            channel.unprepare(remote);
            assertFails(SisciError.ILLEGAL_OPERATION, () -> channel.unprepare(remote));
        }
    }

    @Test
    void shouldCloseAChannelThatHasPreparedSegments() throws Exception {
        var channel = node.requestDmaChannel(Engine.SYSTEM, 0, false);
        channel.prepare(local);
        channel.prepare(remote);

        channel.close(Duration.ZERO);

        node.requestDmaChannel(Engine.SYSTEM, 0, false).close();
    }

    @Test
    void shouldRejectASecondAllocationOfAChannelUnlessItIsShared() throws Exception {
        var first = node.requestDmaChannel(Engine.SYSTEM, 0, false);
        assertFails(SisciError.BUSY, () -> node.requestDmaChannel(Engine.SYSTEM, 0, false));
        first.close();

        try (var one = node.requestDmaChannel(Engine.SYSTEM, 0, true);
                var other = node.requestDmaChannel(Engine.SYSTEM, 0, true)) {
            assertThat(one.isOpen() && other.isOpen()).isTrue();
        }
    }

    @Test
    void shouldRejectAnInvalidQueueSize() {
        assertFails(SisciError.ILLEGAL_PARAMETER, () -> node.newDmaQueue(0));
        assertFails(SisciError.TOO_MANY, () -> node.newDmaQueue(Integer.MAX_VALUE));
    }
}
