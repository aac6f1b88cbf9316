package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * A queue of posted receives, used by one queue pair or shared by several queue pairs of one
 * engine. Any thread may post, but only one thread at a time.
 */
public final class ReceiveQueue extends WorkRing<ReceiveWork> {

    private final ProtectionDomain domain;
    private final int maxBuffers;
    private final Runnable limitReached;
    private int limit;

    /**
     * @param domain the protection domain of the memory into which receives may write
     * @param limitReached the action that the thread driving the engine runs when fewer receives
     *     are left than the {@linkplain #limit limit}
     */
    public ReceiveQueue(
            ProtectionDomain domain, int capacity, int maxBuffers, Runnable limitReached) {
        super(capacity, () -> new ReceiveWork(maxBuffers));
        this.domain = domain;
        this.maxBuffers = maxBuffers;
        this.limitReached = limitReached;
    }

    /**
     * Sets the limit for one run of {@code limitReached}: the action runs when a receive is taken
     * and fewer than {@code receives} are left. A limit of 0 disables the action. Must be called by
     * the thread that drives the engine.
     */
    public void limit(int receives) {
        limit = receives;
    }

    /**
     * Returns the limit, or 0 if no limit was set or the action for the last limit has run. Must be
     * called by the thread that drives the engine.
     */
    public int limit() {
        return limit;
    }

    ProtectionDomain domain() {
        return domain;
    }

    int maxBuffers() {
        return maxBuffers;
    }

    /** Returns the next receive without removing it, or null if there is none. */
    @Nullable ReceiveWork peek() {
        return head() == tail() ? null : slot(head());
    }

    /**
     * Copies the next receive to {@code taken} and removes it from the queue. Returns false if the
     * queue is empty.
     */
    boolean take(ReceiveWork taken) {
        var next = peek();
        if (next == null) {
            return false;
        }
        taken.copyFrom(next);
        release(head() + 1);
        if (limit > 0 && tail() - head() < limit) {
            limit = 0;
            limitReached.run();
        }
        return true;
    }
}
