package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.abi.testing.AllocatedHeapBytes;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that the threads that drive a port process all work, and that they allocate nothing. */
@ParameterizedClass(name = "shared memory: {0}")
@ValueSource(booleans = {true, false})
class PortDrivingTest {

    @Parameter private boolean sharesMemory;

    private static final int BYTES = 64;

    /**
     * If a doorbell were lost, its work request would never be sent, because no timer is running
     * for it.
     */
    @Test
    void shouldProcessEveryDoorbellRegardlessOfTheDrivingThread() throws Exception {
        var posters = 4;
        var writes = 3_000;
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            left.keepsCompletions = false;
            var stop = new AtomicBoolean();
            var drivers = new ArrayList<Thread>();
            drivers.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!stop.get()) {
                                    left.port.progress();
                                }
                            }));
            drivers.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!stop.get()) {
                                    left.port.control(_ -> true);
                                    left.port.callerWaits();
                                    LockSupport.parkNanos(20_000);
                                }
                            }));
            var postingThreads = new ArrayList<Thread>();
            for (var i = 0; i < posters; i++) {
                var queuePair = PortFixture.connected(left, right, 1024)[0];
                postingThreads.add(
                        Thread.ofPlatform().start(() -> writeMany(left, queuePair, writes, right)));
            }
            for (var thread : postingThreads) {
                thread.join();
            }
            // The driving threads end now, because they could process a lost doorbell by accident.
            stop.set(true);
            for (var thread : drivers) {
                thread.join();
            }
            var deadline = System.nanoTime() + 20_000_000_000L;
            while (left.completions.get() < (long) posters * writes) {
                assertThat(System.nanoTime()).as("completion time").isLessThan(deadline);
                Thread.sleep(1);
            }
            assertThat(left.lastFailure).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    /**
     * The daemon thread of a port determines how long to wait, and then sends what other threads
     * have posted meanwhile. The timer of such a request must shorten the wait.
     */
    @Test
    void shouldRetransmitARequestThatWasPostedWhileTheDaemonThreadWasSending() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            var acknowledged = new AtomicBoolean();
            var writes = new CountDownLatch(2);
            left.port.listen(packet -> {
                if (packet.operation().equals("RC_WRITE_ONLY")) {
                    writes.countDown();
                } else if (packet.operation().equals("RC_ACKNOWLEDGE")
                        && !acknowledged.getAndSet(true)) {
                    right.port.linkUp(false); // no packet may wake up the daemon thread
                    onAnotherThread(
                            () -> left.move(pair[0], 1, SendOperationKind.WRITE, 0, BYTES, right));
                }
            });
            left.receive(pair[0], 2, 0, BYTES);
            right.send(pair[1], 3, 0, BYTES);
            assertThat(writes.await(20, TimeUnit.SECONDS)).as("retransmitted").isTrue();
        }
    }

    private static void onAnotherThread(Runnable action) {
        try {
            Thread.ofPlatform().start(action).join();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void writeMany(
            PortFixture left, QueuePair queuePair, int count, PortFixture right) {
        for (var i = 0; i < count; i++) {
            while (queuePair.sends().claim() == null) {
                Thread.onSpinWait();
            }
            left.move(queuePair, i, SendOperationKind.WRITE, 0, BYTES, right);
        }
    }

    /**
     * After the destruction, no thread would acknowledge the message, and the peer would retry
     * until its retries are exhausted.
     */
    @Test
    void shouldAcknowledgeTheLastMessageBeforeTheQueuePairIsDestroyed() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            for (var round = 0; round < 200; round++) {
                var pair = PortFixture.connected(left, right, 1024);
                right.receive(pair[1], 0, 0, BYTES);
                var before = right.received();
                var sender =
                        Thread.ofPlatform()
                                .start(() -> {
                                    LockSupport.parkNanos(300_000);
                                    left.send(pair[0], 0, 0, BYTES);
                                });
                while (right.received() == before) {
                    right.port.progress();
                }
                right.port.control(engine -> {
                    engine.destroy(pair[1]);
                    return true;
                });
                sender.join();
                assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
                left.port.control(engine -> {
                    engine.destroy(pair[0]);
                    return true;
                });
            }
        }
    }

    @Test
    void shouldAllocateNothingForMessagesAfterWarmUp() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            left.keepsCompletions = false;
            right.keepsCompletions = false;
            var pair = PortFixture.connected(left, right, 1024);
            right.receive(pair[1], 0, 0, BYTES);
            left.receive(pair[0], 0, 0, BYTES);
            var messages = 2_000;
            var allocated = Long.MAX_VALUE;
            // The first messages allocate memory until the compiler has eliminated the allocations.
            var deadline = System.nanoTime() + 60_000_000_000L;
            while (allocated > messages / 10 && System.nanoTime() < deadline) {
                var before = AllocatedHeapBytes.ofCurrentThread();
                for (var i = 0; i < messages; i++) {
                    roundTrip(left, right, pair);
                }
                allocated = AllocatedHeapBytes.ofCurrentThread() - before;
            }
            assertThat(allocated).as("bytes").isLessThanOrEqualTo(messages / 10);
            assertThat(left.lastFailure).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private static void roundTrip(PortFixture left, PortFixture right, QueuePair[] pair) {
        var leftReceived = left.received();
        var rightReceived = right.received();
        left.send(pair[0], 0, 0, BYTES);
        while (right.received() == rightReceived) {
            right.port.progress();
        }
        right.receive(pair[1], 0, 0, BYTES);
        right.move(pair[1], 0, SendOperationKind.READ, 0, 3_000, left);
        right.send(pair[1], 0, 0, BYTES);
        while (left.received() == leftReceived) {
            left.port.progress();
            right.port.progress();
        }
        left.receive(pair[0], 0, 0, BYTES);
    }
}
