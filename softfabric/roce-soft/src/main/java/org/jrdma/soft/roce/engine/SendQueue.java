package org.jrdma.soft.roce.engine;

import java.lang.foreign.Arena;
import java.lang.foreign.SegmentAllocator;
import java.util.function.Supplier;

/** A send queue. Any thread may post, but only one at a time. */
public final class SendQueue extends WorkRing<SendWork> {

    /** The payload of an ATOMIC WRITE, which is always copied into the slot. */
    private static final int ATOMIC_WRITE_BYTES = Long.BYTES;

    SendQueue(int capacity, int maxBuffers, int maxInline) {
        super(capacity, slots(capacity, maxBuffers, Math.max(maxInline, ATOMIC_WRITE_BYTES)));
    }

    /**
     * Returns a supplier of slots whose inline buffers share one allocation, because separate ones
     * would take long.
     */
    private static Supplier<SendWork> slots(int capacity, int maxBuffers, int maxInline) {
        var memory =
                SegmentAllocator.slicingAllocator(
                        Arena.ofAuto().allocate((long) length(capacity) * (maxInline + 7 & ~7), 8));
        return () -> new SendWork(maxBuffers, memory.allocate(maxInline, 8));
    }

    /** Completes all work as flushed. */
    void flush(CompletionReporter completions) {
        for (var head = head(); head < tail(); head++) {
            completions.completeSend(slot(head), CompletionStatus.FLUSHED);
            release(head + 1);
        }
    }
}
