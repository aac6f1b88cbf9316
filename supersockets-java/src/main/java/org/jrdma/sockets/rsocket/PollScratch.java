package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.sockets.internal.Scratch;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for a query of the state of one rsocket. A {@link Scratch} is not used, because a
 * thread that sends bytes from the heap already uses its cached Scratch during the query, and would
 * have to allocate another one.
 */
final class PollScratch implements AutoCloseable {

    private static final int CACHE_SLOTS = 64;
    private static final AtomicReferenceArray<@Nullable PollScratch> CACHE =
            new AtomicReferenceArray<>(CACHE_SLOTS);

    private final MemorySegment one = Arena.ofAuto().allocate(pollfd.layout());

    private PollScratch() {}

    static PollScratch take() {
        var cached = CACHE.getAndSet(slot(), null);
        return cached == null ? new PollScratch() : cached;
    }

    @Override
    public void close() {
        CACHE.setRelease(slot(), this);
    }

    private static int slot() {
        return (int) (Thread.currentThread().threadId() & (CACHE_SLOTS - 1));
    }

    /** Returns the memory of one {@code struct pollfd}. */
    MemorySegment one() {
        return one;
    }
}
