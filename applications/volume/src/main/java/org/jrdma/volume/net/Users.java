package org.jrdma.volume.net;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the threads that use the memory of a connection, and frees it when the connection has
 * ended and the last of them has left.
 */
final class Users {

    private static final long CLOSED = Long.MIN_VALUE;

    private final AtomicLong state = new AtomicLong();
    private final Runnable free;

    /**
     * @param free frees the memory; runs once, on the thread that leaves last or closes
     */
    Users(Runnable free) {
        this.free = free;
    }

    /** Returns false if the memory must no longer be used. Otherwise the caller must leave. */
    boolean enter() {
        return state.getAndUpdate(count -> count < 0 ? count : count + 1) >= 0;
    }

    void leave() {
        if (state.decrementAndGet() == CLOSED) {
            free.run();
        }
    }

    /** Rejects further users. Has an effect once. */
    void close() {
        if (state.getAndUpdate(count -> count | CLOSED) == 0) {
            free.run();
        }
    }
}
