package org.jrdma.stress;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests two threads that wait for the same completion queue, each with its own cursor. */
@Timeout(120)
class SharedCompletionQueueWaitTest {

    private static final int ROUNDS = 500;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /**
     * The number of pauses that the provider makes in {@code ibv_req_notify_cq}. They give the
     * other thread enough time to take the event before the call returns.
     */
    private static final int LINGER = 10_000;

    private static final int MAX_PARK_NANOS = 1_000_000;

    private final Phaser rounds = new Phaser(3);
    private final AtomicInteger taken = new AtomicInteger();
    private final Random random = new Random(1);

    @Test
    void shouldWakeUpBothThreadsIfOneTakesTheEventThatTheOtherRequested() throws Exception {
        var provider = NullProviderDevice.provider();
        try (var device = NullProviderDevice.open()) {
            var domain = device.newProtectionDomain();
            var memory = domain.newArena(LOCAL_WRITE).region(4096);
            var queue = device.newCompletionQueue(CompletionQueueOptions.capacity(64).waitable());
            var pair = SharedSoakObjects.Objects.connected(domain, queue);
            var write = pair.prepareWrite(memory.slice(0, 8), memory.remote());
            var first = new FutureTask<Void>(() -> takeOneEachRound(queue));
            var second = new FutureTask<Void>(() -> takeOneEachRound(queue));
            provider.linger(LINGER);
            Thread.ofPlatform().daemon().start(first);
            Thread.ofPlatform().daemon().start(second);
            for (var round = 0; round < ROUNDS && !first.isDone() && !second.isDone(); round++) {
                rounds.arriveAndAwaitAdvance();
                // The thread that takes the first completion has finished its round. The second
                // completion is for the other thread.
                LockSupport.parkNanos(random.nextInt(MAX_PARK_NANOS));
                assertThat(write.tryPost()).isTrue();
                while (taken.get() == 2 * round && !first.isDone() && !second.isDone()) {
                    LockSupport.parkNanos(MAX_PARK_NANOS);
                }
                LockSupport.parkNanos(MAX_PARK_NANOS);
                assertThat(write.tryPost()).isTrue();
                rounds.arriveAndAwaitAdvance();
            }
            rounds.arriveAndDeregister();
            for (var thread : second.isDone() ? List.of(second, first) : List.of(first, second)) {
                thread.get(2 * TIMEOUT.toSeconds(), SECONDS);
            }
        } finally {
            provider.linger(0);
        }
    }

    /** Takes one completion in each round, and fails if the thread is not woken up for it. */
    private Void takeOneEachRound(CompletionQueue queue) throws Exception {
        try (var cursor = queue.newCursor(1)) {
            for (var round = 0; round < ROUNDS; round++) {
                rounds.arriveAndAwaitAdvance();
                LockSupport.parkNanos(ThreadLocalRandom.current().nextInt(MAX_PARK_NANOS));
                var before = System.nanoTime();
                assertThat(cursor.await(TIMEOUT)).as("completions of round %d", round).isOne();
                assertThat(Duration.ofNanos(System.nanoTime() - before))
                        .as("the wait of round %d", round)
                        .isLessThan(TIMEOUT);
                assertThat(cursor.next()).isTrue();
                taken.incrementAndGet();
                rounds.arriveAndAwaitAdvance();
            }
        } finally {
            rounds.arriveAndDeregister();
        }
        return null;
    }
}
