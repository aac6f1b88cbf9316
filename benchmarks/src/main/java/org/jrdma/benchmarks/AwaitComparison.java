package org.jrdma.benchmarks;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;

/**
 * Compares an asynchronous write whose completion a thread awaits with the least that a program
 * could write itself: a thread that polls the completion queue all the time, and wakes up the
 * thread that waits. Both use the no-op provider, and take turns.
 */
public final class AwaitComparison {

    private static final int TURNS = 11;
    private static final int TURNS_TO_WARM_UP = 4;
    private static final int OPERATIONS = 2_000;
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private AwaitComparison() {}

    /** Prints a table. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        try (var device = NullProvider.instance().verbs().open(NullProvider.DEVICE)) {
            var domain = device.newProtectionDomain();
            var region = domain.newArena(LOCAL_WRITE, REMOTE_WRITE).region(64);
            var async = asyncQueuePair(device, domain);
            var handOver = new HandOver(device, domain, region);
            var own = new double[TURNS];
            var baseline = new double[TURNS];
            for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
                var awaited = microsOfAwait(async, region);
                var handedOver = handOver.micros();
                if (turn >= 0) {
                    own[turn] = awaited;
                    baseline[turn] = handedOver;
                }
            }
            System.out.println("| us | SDK | polling thread | ratio | bound |");
            System.out.println("|---|---|---|---|---|");
            ComparisonRowPrinter.print(
                    "WRITE and await its completion", own, baseline, "at most 1.2");
        }
    }

    private static AsyncQueuePair asyncQueuePair(Device device, ProtectionDomain domain)
            throws FabricException {
        var queuePair = domain.newQueuePair(reliable(device.newCompletionDispatcher(64)));
        queuePair.connect(queuePair.endpoint());
        return queuePair;
    }

    private static double microsOfAwait(AsyncQueuePair queuePair, MemoryRegion region)
            throws IOException {
        var before = System.nanoTime();
        for (var i = 0; i < OPERATIONS; i++) {
            var _ = queuePair.write(region.slice(), region.remote()).await(TIMEOUT);
        }
        return microsSince(before);
    }

    private static double microsSince(long before) {
        return (System.nanoTime() - before) / 1e3 / OPERATIONS;
    }

    /** A thread that polls a completion queue and wakes up the thread that waits for a write. */
    private static final class HandOver {

        private final PreparedWrite write;
        private final CompletionQueue completions;
        private volatile boolean isPolling;
        private final AtomicLong completed = new AtomicLong();

        HandOver(Device device, ProtectionDomain domain, MemoryRegion region)
                throws FabricException {
            completions = device.newCompletionQueue(64);
            var queuePair = domain.newQueuePair(reliable(completions));
            queuePair.connect(queuePair.endpoint());
            write = queuePair.prepareWrite(region.slice(), region.remote());
        }

        double micros() throws FabricException, InterruptedException {
            var waiting = Thread.currentThread();
            isPolling = true;
            var polling = Thread.ofPlatform().start(() -> poll(waiting));
            var before = System.nanoTime();
            for (var i = 0; i < OPERATIONS; i++) {
                var expected = completed.get() + 1;
                if (!write.tryPost()) {
                    throw new IllegalStateException("The send queue is full");
                }
                while (completed.get() < expected) {
                    LockSupport.park();
                }
            }
            var micros = microsSince(before);
            isPolling = false;
            polling.join();
            return micros;
        }

        private void poll(Thread waiting) {
            try (var cursor = completions.newCursor(16)) {
                while (isPolling) {
                    var _ = cursor.poll();
                    while (cursor.next()) {
                        var _ = completed.incrementAndGet();
                        LockSupport.unpark(waiting);
                    }
                    Thread.onSpinWait();
                }
            }
        }
    }
}
