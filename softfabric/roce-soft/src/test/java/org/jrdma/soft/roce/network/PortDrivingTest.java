package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.SendOperation;
import org.junit.jupiter.api.Test;

/** Tests which threads drive a port, and the cost. */
class PortDrivingTest {

    private static final int BYTES = 64;

    /** Work whose doorbell is lost would never be sent, because no timer is running for it. */
    @Test
    void shouldProcessEveryDoorbellRegardlessOfTheDrivingThread() throws Exception {
        var posters = 4;
        var each = 3_000;
        try (var left = Station.anywhere();
                var right = Station.anywhere()) {
            left.keeping = false;
            var stop = new AtomicBoolean();
            var others = new ArrayList<Thread>();
            others.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!stop.get()) {
                                    left.port.progress();
                                }
                            }));
            others.add(
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!stop.get()) {
                                    left.port.control(_ -> true);
                                    left.port.callerWaits();
                                    LockSupport.parkNanos(20_000);
                                }
                            }));
            var posting = new ArrayList<Thread>();
            for (var i = 0; i < posters; i++) {
                var queuePair = Station.connected(left, right, 1024)[0];
                posting.add(
                        Thread.ofPlatform().start(() -> writeMany(left, queuePair, each, right)));
            }
            for (var thread : posting) {
                thread.join();
            }
            // Half of the time without threads that would process the doorbell by accident.
            stop.set(true);
            for (var thread : others) {
                thread.join();
            }
            var deadline = System.nanoTime() + 20_000_000_000L;
            while (left.completions.get() < (long) posters * each) {
                assertThat(System.nanoTime()).as("doorbells heard").isLessThan(deadline);
                Thread.sleep(1);
            }
            assertThat(left.failed).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private static void writeMany(Station left, QueuePair queuePair, int count, Station right) {
        for (var i = 0; i < count; i++) {
            while (queuePair.sends().claim() == null) {
                Thread.onSpinWait();
            }
            left.move(queuePair, i, SendOperation.WRITE, 0, BYTES, right);
        }
    }

    /**
     * No other thread would acknowledge the message, and the peer would retry until it gives up.
     */
    @Test
    void shouldAcknowledgeTheLastMessageBeforeTheQueuePairIsDestroyed() throws Exception {
        try (var left = Station.anywhere();
                var right = Station.anywhere()) {
            for (var round = 0; round < 200; round++) {
                var pair = Station.connected(left, right, 1024);
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
    void shouldAllocateNothingForMessagesInTheSteadyState() throws Exception {
        try (var left = Station.anywhere();
                var right = Station.anywhere()) {
            left.keeping = false;
            right.keeping = false;
            var pair = Station.connected(left, right, 1024);
            right.receive(pair[1], 0, 0, BYTES);
            left.receive(pair[0], 0, 0, BYTES);
            var messages = 2_000;
            var allocated = Long.MAX_VALUE;
            // Allocations remain until the compiler has eliminated them.
            var deadline = System.nanoTime() + 60_000_000_000L;
            while (allocated > messages / 10 && System.nanoTime() < deadline) {
                var before = ThreadMeter.allocatedBytes();
                for (var i = 0; i < messages; i++) {
                    roundTrip(left, right, pair);
                }
                allocated = ThreadMeter.allocatedBytes() - before;
            }
            assertThat(allocated).as("bytes").isLessThanOrEqualTo(messages / 10);
            assertThat(left.failed).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    private static void roundTrip(Station left, Station right, QueuePair[] pair) {
        var here = left.received();
        var there = right.received();
        left.send(pair[0], 0, 0, BYTES);
        while (right.received() == there) {
            right.port.progress();
        }
        right.receive(pair[1], 0, 0, BYTES);
        right.move(pair[1], 0, SendOperation.READ, 0, 3_000, left);
        right.send(pair[1], 0, 0, BYTES);
        while (left.received() == here) {
            left.port.progress();
            right.port.progress();
        }
        left.receive(pair[0], 0, 0, BYTES);
    }
}
