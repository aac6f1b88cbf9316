package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.ScratchCache;

/**
 * Native memory for a query of the state of one rsocket. A {@link Scratch} is not used, because a
 * thread that sends bytes from the heap already uses its cached Scratch during the query, and would
 * have to allocate another one.
 */
final class PollScratch implements AutoCloseable {

    private static final ScratchCache<PollScratch> CACHE = new ScratchCache<>(PollScratch::new);

    private final MemorySegment one = Arena.ofAuto().allocate(pollfd.layout());

    private PollScratch() {}

    static PollScratch take() {
        return CACHE.take();
    }

    @Override
    public void close() {
        CACHE.release(this);
    }

    /** Returns the memory of one {@code struct pollfd}. */
    MemorySegment one() {
        return one;
    }
}
