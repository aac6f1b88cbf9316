package org.jrdma.sockets.rsocket;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jrdma.abi.rdma.pollfd;
import org.jrdma.sockets.internal.Scratch;
import org.jspecify.annotations.Nullable;

/**
 * Native memory to ask for the state of one rsocket. Not a {@link Scratch}, of which a thread keeps
 * one: who sends from the heap holds that while it asks.
 */
final class PollScratch implements AutoCloseable {

    private static final int PLACES = 64;
    private static final AtomicReferenceArray<@Nullable PollScratch> SPARE =
            new AtomicReferenceArray<>(PLACES);

    private final MemorySegment one = Arena.ofAuto().allocate(pollfd.layout());

    private PollScratch() {}

    /** Takes a spare one, or makes one. */
    static PollScratch take() {
        var spare = SPARE.getAndSet(place(), null);
        return spare == null ? new PollScratch() : spare;
    }

    /** Gives it back. */
    @Override
    public void close() {
        SPARE.setRelease(place(), this);
    }

    private static int place() {
        return (int) (Thread.currentThread().threadId() & (PLACES - 1));
    }

    /** A {@code struct pollfd}. */
    MemorySegment one() {
        return one;
    }
}
