package org.jrdma.stress;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.stream.LongStream;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests {@code drain} on queue pairs whose queues are full. The provider terminates the process if
 * a completion queue overruns.
 */
@Timeout(60)
class QueuePairDrainTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private Device device;
    private ProtectionDomain domain;
    private MemoryRegion memory;

    @BeforeEach
    void openDevice() throws Exception {
        device = NullProviderDevice.open();
        domain = device.newProtectionDomain();
        memory = domain.newArena(LOCAL_WRITE).region(4096);
    }

    @AfterEach
    void closeDevice() {
        if (device != null) {
            device.close();
        }
    }

    @Test
    void shouldDrainAFullQueuePairThroughAQueueThatIsJustLargeEnough() throws Exception {
        var queue = device.newCompletionQueue(16);
        var pair = domain.newReliableQueuePair(queue);
        pair.connect(pair.endpoint());
        assertThat(queue.remainingCapacity()).isZero();
        var cursor = queue.newCursor(4);
        fill(pair, true);

        var delivered = drain(pair, cursor);

        assertThat(delivered)
                .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 16).boxed().toList());
    }

    @Test
    void shouldFinishAnInterruptedDrainAndNotDeliverItsMarker() throws Exception {
        var queue = device.newCompletionQueue(16);
        var pair = domain.newReliableQueuePair(queue);
        pair.connect(pair.endpoint());
        var cursor = queue.newCursor(4);
        fill(pair, false);
        interruptedDrain(pair, cursor);

        var delivered = drain(pair, cursor);

        assertThat(delivered)
                .as("the receives")
                .containsExactly(8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L);
        reconnect(pair);
        fill(pair, false); // Asserts that all slots are free.
        assertThat(drain(pair, cursor)).hasSize(8);
    }

    @Test
    void shouldDrainTwoQueuePairsThatShareTheSlotForOneMarker() throws Exception {
        var queue = device.newCompletionQueue(32);
        var first = SharedSoakObjects.Objects.connected(domain, queue);
        var second = SharedSoakObjects.Objects.connected(domain, queue);
        assertThat(queue.remainingCapacity()).isZero();
        var cursor = queue.newCursor(4);
        fill(first, true);
        fill(second, true);
        interruptedDrain(first, cursor);

        assertThat(drain(second, cursor))
                .as("the completions of both queue pairs")
                .hasSize(16 + 16);

        assertThat(drain(first, cursor)).isEmpty();
        assertThat(first.freeSends()).isEqualTo(8);
        assertThat(second.freeSends()).isEqualTo(8);
    }

    @Test
    void shouldLetOtherQueuePairsDrainIfOneIsClosedWhileItsMarkerIsPending() throws Exception {
        var queue = device.newCompletionQueue(32);
        var first = SharedSoakObjects.Objects.connected(domain, queue);
        var second = SharedSoakObjects.Objects.connected(domain, queue);
        var cursor = queue.newCursor(4);
        fill(first, false);
        interruptedDrain(first, cursor);

        first.close();

        fill(second, false);
        assertThat(drain(second, cursor)).as("the receives").hasSize(8);
    }

    @Test
    void shouldLetOtherQueuePairsDrainIfOneIsClosedDuringItsDrain() throws Exception {
        var queue = device.newCompletionQueue(48);
        var first = SharedSoakObjects.Objects.connected(domain, queue);
        var closed = SharedSoakObjects.Objects.connected(domain, queue);
        var third = SharedSoakObjects.Objects.connected(domain, queue);
        var cursor = queue.newCursor(1);
        fill(first, false);
        // The next drain must wait for the slot of the marker request.
        interruptedDrain(first, cursor);
        fill(closed, false);

        assertThatIllegalStateException()
                .isThrownBy(() -> closed.drain(cursor, TIMEOUT, _ -> closed.close()))
                .withMessage(closed + " is closed");

        fill(third, false);
        drain(third, cursor);
        assertThat(third.freeSends()).isEqualTo(8);
    }

    @Test
    void shouldRejectAResetWithPendingRequestsUntilDrained() throws Exception {
        var queue = device.newCompletionQueue(16);
        var pair = domain.newReliableQueuePair(queue);
        pair.connect(pair.endpoint());
        fill(pair, false);

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> pair.modify(QueuePairChange.to(QueuePairState.RESET)))
                .withMessageContaining("from READY_TO_SEND to RESET")
                .withMessageContaining("16 requests")
                .withMessageContaining("Drain the queue pair first");

        assertThat(pair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        drain(pair, queue.newCursor(4));
        reconnect(pair);
        assertThat(pair.freeSends()).isEqualTo(8);
        assertThat(pair.freeReceives()).isEqualTo(8);
    }

    @Test
    void shouldRejectAResetOfAnAsyncQueuePairWithAPendingTransferUntilDrained() throws Exception {
        var pair = domain.newQueuePair(reliable(device.newCompletionDispatcher(16)));
        pair.connect(pair.endpoint());
        var transfer = pair.receive(List.of());

        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> pair.modify(QueuePairChange.to(QueuePairState.RESET)))
                .withMessageContaining("Drain the queue pair first");

        assertThat(transfer.isCompleted()).isFalse();
        pair.drain(TIMEOUT);
        assertThat(transfer.awaitCompletion(TIMEOUT).isSuccess()).isFalse();
        pair.modify(QueuePairChange.to(QueuePairState.RESET));
        pair.connect(pair.endpoint());
        for (var round = 0; round < 3 * 8; round++) {
            pair.write(memory.slice(0, 64), memory.remote()).await(TIMEOUT);
        }
    }

    @Test
    void shouldRejectTransfersWhileAnAsyncQueuePairIsDrained() throws Exception {
        var pair = domain.newQueuePair(reliable(device.newCompletionDispatcher(16)));
        pair.connect(pair.endpoint());
        var flushing = new CountDownLatch(1);
        var unblock = new CompletableFuture<Void>();
        var first = pair.receive(List.of());
        var second = pair.receive(List.of());
        // Blocks the dispatcher, and therefore the drain, until this test has tried to post.
        var stage =
                first.future(Runnable::run)
                        .thenApply(completion -> {
                            flushing.countDown();
                            unblock.join();
                            return completion;
                        });
        var drain =
                new FutureTask<Void>(() -> {
                    pair.drain(TIMEOUT);
                    return null;
                });
        Thread.ofPlatform().daemon().start(drain);
        try {
            assertThat(flushing.await(TIMEOUT.toSeconds(), SECONDS)).isTrue();

            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> pair.receive(memory.slice(0, 64)))
                    .withMessageContaining("it is being drained");
            assertThatExceptionOfType(VerbsException.class)
                    .isThrownBy(() -> pair.write(memory.slice(0, 64), memory.remote()))
                    .withMessageContaining("it is being drained");

            assertThat(drain.isDone()).isFalse();
        } finally {
            unblock.complete(null);
        }
        drain.get(TIMEOUT.toSeconds(), SECONDS);
        assertThat(stage.get().isSuccess()).isFalse();
        assertThat(second.isCompleted()).isTrue();
    }

    @Test
    void shouldAcceptTransfersAgainAfterADrainHasEnded() throws Exception {
        var pair = domain.newQueuePair(reliable(device.newCompletionDispatcher(16)));
        pair.connect(pair.endpoint());
        var unblock = new CompletableFuture<Void>();
        var first = pair.receive(List.of());
        // Blocks the dispatcher, so that the first drain misses its deadline.
        var stage = first.future(Runnable::run).thenRun(unblock::join);
        Transfer afterFailedDrain;
        try {
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> pair.drain(Duration.ofMillis(10)));
            afterFailedDrain = pair.receive(List.of());
        } finally {
            unblock.complete(null);
        }
        pair.drain(TIMEOUT);
        var afterDrain = pair.receive(List.of());

        assertThat(stage.get(TIMEOUT.toSeconds(), SECONDS)).isNull();
        for (var transfer : List.of(afterFailedDrain, afterDrain)) {
            assertThat(transfer.awaitCompletion(TIMEOUT).status())
                    .isEqualTo(CompletionStatus.FLUSHED);
        }
    }

    /**
     * Posts 8 writes with the ids 0 to 7, and 8 receives with the ids 8 to 15, which do not
     * complete before the queue pair is flushed. Both queues are then full.
     */
    private void fill(PolledQueuePair pair, boolean signaled) throws VerbsException {
        var write = pair.prepareWrite(memory.slice(0, 8), memory.remote()).signaled(signaled);
        var receive = pair.prepareReceive(List.of());
        for (var number = 0; number < 8; number++) {
            assertThat(write.id(number).tryPost()).isTrue();
            assertThat(receive.id(8 + number).tryPost()).isTrue();
        }
        assertThat(write.tryPost()).isFalse();
        assertThat(receive.tryPost()).isFalse();
    }

    /**
     * Drains a queue pair. Returns the ids of the requests whose completions the drain has
     * delivered.
     */
    private static List<Long> drain(PolledQueuePair pair, CompletionCursor cursor)
            throws Exception {
        var delivered = new ArrayList<Long>();
        pair.drain(cursor, TIMEOUT, completion -> delivered.add(completion.id()));
        return delivered;
    }

    /**
     * Starts a drain and interrupts it after it has posted its marker request, so that this request
     * stays pending.
     */
    private static void interruptedDrain(PolledQueuePair pair, CompletionCursor cursor) {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> drain(pair, cursor));
        assertThat(Thread.interrupted()).isTrue();
    }

    private static void reconnect(PolledQueuePair pair) throws VerbsException {
        pair.modify(QueuePairChange.to(QueuePairState.RESET));
        pair.connect(pair.endpoint());
    }
}
