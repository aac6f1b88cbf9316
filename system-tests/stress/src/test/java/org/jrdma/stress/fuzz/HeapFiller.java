package org.jrdma.stress.fuzz;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A thread that repeatedly fills the heap until an allocation of another thread has failed, or for
 * 50 ms.
 */
final class HeapFiller implements Runnable {

    private static final long FULL_NANOS = 50_000_000;

    private static final int MAX_PIECES = 1 << 16;

    private final Thread thread = Thread.ofPlatform().daemon().name("heap-filler").unstarted(this);
    private final LongSupplier failedAllocations;
    private volatile boolean stopped;

    private HeapFiller(LongSupplier failedAllocations) {
        this.failedAllocations = failedAllocations;
    }

    /** Starts a thread. The supplier returns the number of failed allocations of other threads. */
    static HeapFiller start(LongSupplier failedAllocations) {
        var filler = new HeapFiller(failedAllocations);
        filler.thread.start();
        return filler;
    }

    void stop() throws InterruptedException {
        stopped = true;
        thread.join();
    }

    @Override
    public void run() {
        while (!stopped) {
            List<byte[]> pieces = new ArrayList<>(MAX_PIECES);
            var failedBefore = failedAllocations.getAsLong();
            var end = System.nanoTime() + FULL_NANOS;
            do {
                fill(pieces); // also the memory that other threads have released meanwhile
                LockSupport.parkNanos(1_000_000);
            } while (!stopped
                    && failedAllocations.getAsLong() == failedBefore
                    && System.nanoTime() < end);
            pieces.clear();
            LockSupport.parkNanos(20_000_000);
        }
    }

    private void fill(List<byte[]> pieces) {
        for (var size = 1 << 20; size >= 64 && !stopped; size /= 2) {
            try {
                while (!stopped && pieces.size() < MAX_PIECES) {
                    pieces.add(new byte[size]);
                }
            } catch (OutOfMemoryError _) {
                // Continues with smaller arrays.
            }
        }
    }
}
