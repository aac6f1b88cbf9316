package org.jrdma.sockets.sisci;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Chooses the capacities of the rings of a process. A stream is fast only if its ring is so large
 * that reader and writer rarely wait for each other. The rings of thousands of streams must not
 * occupy the memory of the machine, however, so rings become smaller as their total grows.
 */
final class RingMemoryBudget {

    private static final int MIN_BYTES = 128 * 1024;
    private static final int MAX_BYTES = 2 * 1024 * 1024;

    /** The total up to which rings are larger than {@link #MIN_BYTES}. */
    private static final long BUDGET = 64L * 1024 * 1024;

    /** A ring may occupy the unused budget divided by this number. */
    private static final int SHARE = 8;

    private final AtomicLong total = new AtomicLong();

    /**
     * Takes memory for a ring. The caller must {@link #release} it.
     *
     * @param requested the number of bytes that the program has requested; 0 for no request
     * @return the capacity of the ring, which is a power of two
     */
    int take(int requested) {
        var capacity =
                requested == 0
                        ? Math.clamp(
                                Long.highestOneBit((BUDGET - total.get()) / SHARE),
                                MIN_BYTES,
                                MAX_BYTES)
                        : StreamLayout.powerOfTwo(requested);
        total.addAndGet(capacity);
        return capacity;
    }

    void release(int capacity) {
        total.addAndGet(-capacity);
    }
}
