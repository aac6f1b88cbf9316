package org.jrdma.soft.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.util.function.Supplier;

/** The send queue of a queue pair. Any thread may post, but only one thread at a time. */
public final class SendQueue extends WorkRing<SendWork> {

    /** The length of the payload of an ATOMIC WRITE, which is always inline. */
    private static final int ATOMIC_WRITE_BYTES = Long.BYTES;

    SendQueue(int capacity, int maxBuffers, int maxInline) {
        super(capacity, slots(capacity, maxBuffers, Math.max(maxInline, ATOMIC_WRITE_BYTES)));
    }

    /**
     * Returns a supplier of {@link SendWork} slots. The inline buffers of all slots share one
     * allocation, because a separate allocation for each slot would take long.
     */
    private static Supplier<SendWork> slots(int capacity, int maxBuffers, int maxInline) {
        var memory =
                SegmentAllocator.slicingAllocator(
                        Arena.ofAuto().allocate((long) length(capacity) * (maxInline + 7 & ~7), 8));
        return () -> new SendWork(maxBuffers, memory.allocate(maxInline, 8));
    }

    /** Completes all work requests in this queue as flushed. */
    void flush(CompletionReporter completions) {
        for (var head = head(); head < tail(); head++) {
            completions.completeSend(slot(head), CompletionStatus.FLUSHED);
            release(head + 1);
        }
    }
}
