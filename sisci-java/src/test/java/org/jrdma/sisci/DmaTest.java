package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.DmaPiece;
import org.jrdma.sisci.model.DmaState;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DmaTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private FakeLibrary library;
    private Node node;
    private LocalSegment local;
    private LocalMap sourceMap;
    private RemoteSegment remote;
    private LocalMap targetMap;
    private DmaQueue queue;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
        local = node.newSegment(SegmentOptions.of(1, 4096).asPrivate());
        local.prepare();
        sourceMap = local.map();
        var target = node.newSegment(2, 4096);
        target.offer();
        targetMap = target.map();
        remote = node.connect(4, 2, TIMEOUT);
        queue = node.newDmaQueue(4);
    }

    @AfterEach
    void close() {
        library.hold(false);
        node.close();
    }

    @Test
    void shouldPushAndPull() throws Exception {
        sourceMap.putLong(8, 42);
        queue.transfer(DmaTransferRequest.push(local, 8, remote, 16, 8), TIMEOUT);
        assertThat(targetMap.getLong(16)).isEqualTo(42);
        assertThat(queue.state()).isEqualTo(DmaState.DONE);

        targetMap.putLong(24, 43);
        queue.transfer(DmaTransferRequest.pull(local, 0, remote, 24, 8), TIMEOUT);
        assertThat(sourceMap.getLong(0)).isEqualTo(43);
    }

    @Test
    void shouldRejectATransferWithoutAnEngine() {
        var transfer = DmaTransferRequest.push(local, 8, remote, 16, 8);

        assertThatThrownBy(() -> transfer.withEngine(null))
                .isInstanceOf(NullPointerException.class);
    }

    @Test
    void shouldTransferPieces() throws Exception {
        sourceMap.putLong(0, 1);
        sourceMap.putLong(512, 2);

        queue.transfer(
                DmaTransferRequest.pushPieces(
                        local, remote, List.of(new DmaPiece(0, 8, 8), new DmaPiece(512, 0, 8))),
                TIMEOUT);

        assertThat(targetMap.getLong(8)).isOne();
        assertThat(targetMap.getLong(0)).isEqualTo(2);

        queue.transfer(
                DmaTransferRequest.pullPieces(local, remote, List.of(new DmaPiece(1024, 0, 16))),
                TIMEOUT);
        assertThat(sourceMap.getLong(1024)).isEqualTo(2);
    }

    @Test
    void shouldTransferMemoryOfTheCaller() throws Exception {
        try (var arena = Arena.ofShared()) {
            var memory = arena.allocate(16, 8);
            memory.fill((byte) 5);

            queue.transfer(DmaTransferRequest.pushForeign(memory, remote, 32), TIMEOUT);
            assertThat(targetMap.getLong(40)).isEqualTo(0x0505050505050505L);

            targetMap.putLong(32, 6);
            queue.transfer(DmaTransferRequest.pullForeign(memory, remote, 32), TIMEOUT);
            assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(6);
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> DmaTransferRequest.pullForeign(memory.asReadOnly(), remote, 0));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        DmaTransferRequest.pushForeign(
                                MemorySegment.ofArray(new byte[8]), remote, 0));
    }

    @Test
    void shouldCompleteTheFutureOnAJavaThread() throws Exception {
        library.hold(true);
        var future = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));
        var thread = future.thenApply(_ -> Thread.currentThread().isVirtual());
        assertThat(future).isNotDone();

        library.hold(false);

        assertThat(thread.get(5, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldReportTheStateOfAPostedTransfer() throws Exception {
        assertThat(queue.state()).isEqualTo(DmaState.IDLE);
        library.hold(true);
        queue.post(DmaTransferRequest.push(local, 0, remote, 0, 8));
        assertThat(queue.state()).isEqualTo(DmaState.POSTED);

        library.hold(false);
        while (queue.state() == DmaState.POSTED) {
            Thread.onSpinWait();
        }

        assertThat(queue.state()).isEqualTo(DmaState.DONE);
    }

    @Test
    void shouldReportTheErrorOfAFailedTransfer() throws Exception {
        library.fail("the transfer", sisci_h.SCI_ERR_TRANSFER_FAILED(), 2);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() ->
                        queue.transfer(DmaTransferRequest.push(local, 0, remote, 0, 8), TIMEOUT))
                .withMessage(
                        "The push of 8 bytes to segment 2 of node 4 from node 4 failed: TRANSFER_FAILED (0x40000A06)")
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.TRANSFER_FAILED));
        assertThat(queue.state()).isEqualTo(DmaState.ERROR);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() ->
                        queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8))
                                .get(5, TimeUnit.SECONDS))
                .withCauseInstanceOf(SisciException.class);
    }

    @Test
    void shouldRejectASecondTransferWhileOneIsRunning() throws Exception {
        library.hold(true);
        var first = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> queue.start(DmaTransferRequest.push(local, 8, remote, 8, 8)))
                .withMessageContaining("it is still executing a push of 8 bytes");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> queue.post(DmaTransferRequest.push(local, 8, remote, 8, 8)));
        library.hold(false);
        first.get(5, TimeUnit.SECONDS);
        queue.transfer(DmaTransferRequest.push(local, 8, remote, 8, 8), TIMEOUT);
    }

    @Test
    void shouldStartTheNextTransferAfterTheFutureOfThePreviousCompleted() throws Exception {
        for (var i = 0; i < 1_000; i++) {
            var previous = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));
            previous.get(5, TimeUnit.SECONDS);
        }
        assertThat(library.calls("SCIStartDmaTransfer")).isEqualTo(1_000);
    }

    @Test
    void shouldFailTheFutureOfAnAbortedTransfer() throws Exception {
        library.hold(true);
        var future = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));

        queue.abort();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(5, TimeUnit.SECONDS))
                .withMessageContaining("was aborted");
        assertThat(queue.state()).isEqualTo(DmaState.ABORTED);
    }

    @Test
    void shouldAbortATransferOnTimeoutAndInterrupt() {
        library.hold(true);

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() ->
                        queue.transfer(
                                DmaTransferRequest.push(local, 0, remote, 0, 8),
                                Duration.ofMillis(20)))
                .withMessageStartingWith("The push of 8 bytes");
        assertThat(queue.state()).isEqualTo(DmaState.ABORTED);

        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() ->
                        queue.transfer(DmaTransferRequest.push(local, 0, remote, 0, 8), TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
        assertThat(library.calls("SCIAbortDMAQueue")).isEqualTo(2);
    }

    @Test
    void shouldAbortTheTransferWhenTheQueueIsClosed() throws Exception {
        library.hold(true);
        var future = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));

        queue.close();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(5, TimeUnit.SECONDS));
        assertThat(library.calls("SCIRemoveDMAQueue")).isOne();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8)));
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(queue::state);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(queue::abort);
    }

    @Test
    void shouldNotReturnBeforeTheEngineHasReleasedTheMemory() throws Exception {
        library.hold(true);
        library.slowAbort(true);
        var transfer = DmaTransferRequest.push(local, 0, remote, 0, 8);
        var stateAfterwards =
                CompletableFuture.supplyAsync(() -> {
                    assertThatExceptionOfType(FabricTimeoutException.class)
                            .isThrownBy(() -> queue.transfer(transfer, Duration.ofMillis(1)));
                    return queue.state();
                });
        awaitAbort();
        assertThat(stateAfterwards).isNotDone();

        library.hold(false);

        assertThat(stateAfterwards.get(5, TimeUnit.SECONDS)).isEqualTo(DmaState.ABORTED);
        queue.transfer(transfer, TIMEOUT);
    }

    private void awaitAbort() {
        while (library.calls("SCIAbortDMAQueue") == 0) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldFailTheFutureIfTheLibraryDoesNotReportTheAbort() throws Exception {
        library.hold(true);
        library.slowAbort(true);
        var future = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));
        var closing = CompletableFuture.runAsync(queue::close);
        awaitAbort();

        library.hold(false);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(5, TimeUnit.SECONDS))
                .withMessageContaining("was aborted");
        closing.get(5, TimeUnit.SECONDS);
        assertThat(library.calls("SCIRemoveDMAQueue")).isOne();
    }

    @Test
    void shouldFailTheFutureOfATransferThatCannotBeStopped() throws Exception {
        library.hold(true);
        library.slowAbort(true);
        var future = queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8));

        queue.close(Duration.ofMillis(5));

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> future.get(5, TimeUnit.SECONDS))
                .withMessageContaining("was aborted but is still running. Keep its memory");
        var removals = library.calls("SCIRemoveDMAQueue");
        library.hold(false);
        node.close();
        assertThat(library.calls("SCIRemoveDMAQueue"))
                .as("number of removals")
                .isGreaterThan(removals);
    }

    @Test
    void shouldAbortATransferWhoseSegmentIsClosed() throws Exception {
        for (SisciObject segment : List.of(remote, local)) {
            library.hold(true);
            remote = node.connect(4, 2, TIMEOUT);
            var aborts = library.calls("SCIAbortDMAQueue");
            var future =
                    queue.start(
                            segment == local
                                    ? DmaTransferRequest.push(local, 0, remote, 0, 8)
                                    : DmaTransferRequest.push(
                                            local, 0, (RemoteSegment) segment, 0, 8));

            segment.close();

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> future.get(5, TimeUnit.SECONDS))
                    .withMessageContaining("was aborted");
            assertThat(library.calls("SCIAbortDMAQueue")).isEqualTo(aborts + 1);
        }
    }

    @Test
    void shouldAbortAPostedTransferBeforeItsNodeClosesTheSegments() throws Exception {
        library.hold(true);
        var newer = node.newSegment(SegmentOptions.of(3, 4096).asPrivate());
        newer.prepare();
        queue.post(DmaTransferRequest.push(newer, 0, remote, 0, 8));
        var abortsBeforeSegmentClose = new AtomicInteger();
        newer.ownLifetime()
                .onClose(() -> abortsBeforeSegmentClose.set(library.calls("SCIAbortDMAQueue")));

        node.close();

        assertThat(abortsBeforeSegmentClose).hasValue(1);
    }

    @Test
    void shouldRejectAnObjectOfAnotherLibrary() throws Exception {
        var otherLibrary = new FakeLibrary(Kind.WITH_CONSTANTS);
        try (var otherNode = otherLibrary.sisci.open();
                var otherQueue = otherNode.newDmaQueue(1);
                var channel = otherNode.requestDmaChannel(DmaChannel.Engine.ANY)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> otherQueue.start(DmaTransferRequest.push(local, 0, remote, 0, 8)))
                    .withMessageContaining("Cannot use segment 2 of node 4 from node 4 (library ")
                    .withMessageContaining(library.file.toString())
                    .withMessageContaining(otherLibrary.file.toString());
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> otherQueue.post(DmaTransferRequest.push(local, 0, remote, 0, 8)));
            assertThatIllegalArgumentException().isThrownBy(() -> channel.assign(queue));
            assertThatIllegalArgumentException().isThrownBy(() -> channel.prepare(local));
            assertThatIllegalArgumentException().isThrownBy(() -> channel.unprepare(remote));
        }
    }

    @Test
    void shouldAssignAQueueAndPrepareSegmentsForAChannel() throws Exception {
        try (var channel = node.requestDmaChannel(DmaChannel.Engine.GLOBAL, 5, true)) {
            channel.assign(queue);
            assertThat(library.channel()).isEqualTo(0x01_01_03_05);
            channel.prepare(local);
            assertThat(library.channel() >>> 24).isEqualTo(0b00011);
            channel.prepare(remote);
            assertThat(library.channel() >>> 24).isEqualTo(0b00111);
            channel.unprepare(local);
            assertThat(library.channel() >>> 24).isEqualTo(0b01111);
            channel.unprepare(remote);
            assertThat(library.channel() >>> 24).isEqualTo(0b11111);
            queue.close();
            assertThatExceptionOfType(IllegalStateException.class)
                    .isThrownBy(() -> channel.assign(queue));
        }
        assertThat(library.calls("SCIReturnDMAChannel")).isOne();
        var any = node.requestDmaChannel(DmaChannel.Engine.ANY);
        assertThat(library.channel() & 0xffff).isEqualTo(0xffff);
        any.close();
    }

    /** Otherwise, the library would report that the channel is busy, and never close the node. */
    @Test
    void shouldUnprepareSegmentsWhenTheChannelOrTheSegmentIsClosed() throws Exception {
        var channel = node.requestDmaChannel(DmaChannel.Engine.ANY);
        channel.prepare(local);
        channel.prepare(remote);

        local.close();
        assertThat(library.calls("SCIUnprepareLocalSegmentForDMA")).isOne();
        channel.close();
        assertThat(library.calls("SCIUnprepareRemoteSegmentForDMA")).isOne();

        remote.close();
        assertThat(library.calls("SCIUnprepareRemoteSegmentForDMA")).isOne();
    }

    @Test
    void shouldRejectInvalidTransfers() throws Exception {
        var unprepared = node.newSegment(3, 4096);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> queue.start(DmaTransferRequest.push(unprepared, 0, remote, 0, 8)))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.SEGMENT_NOT_PREPARED));
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> queue.start(DmaTransferRequest.push(local, 4089, remote, 0, 8)))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.OUT_OF_RANGE));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransferRequest.push(local, 0, remote, 0, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransferRequest.pull(local, -1, remote, 0, 8));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DmaTransferRequest.pushPieces(local, remote, List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new DmaPiece(0, 0, 1L << 32));
        local.close();
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> queue.start(DmaTransferRequest.push(local, 0, remote, 0, 8)))
                .withMessage("segment 1 of node 4 is closed");
    }
}
