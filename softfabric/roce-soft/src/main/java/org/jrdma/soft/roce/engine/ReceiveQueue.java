package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * A receive queue of one queue pair, or shared by several queue pairs of one engine. Any thread may
 * post, but only one at a time.
 */
public final class ReceiveQueue extends WorkRing<ReceiveWork> {

    private final ProtectionDomain domain;
    private final int maxBuffers;
    private final Runnable limitReached;
    private int limit;

    /**
     * @param domain the protection domain of the memory that receives may name
     * @param limitReached run on the engine's thread when fewer receives are left than the limit
     */
    public ReceiveQueue(
            ProtectionDomain domain, int capacity, int maxBuffers, Runnable limitReached) {
        super(capacity, () -> new ReceiveWork(maxBuffers));
        this.domain = domain;
        this.maxBuffers = maxBuffers;
        this.limitReached = limitReached;
    }

    /**
     * Sets the limit: {@code limitReached} is run once when a receive is taken and fewer than
     * {@code receives} are left; 0 for never. For the engine's thread.
     */
    public void limit(int receives) {
        limit = receives;
    }

    /** Returns the limit, or 0 if there is none or it was reached. For the engine's thread. */
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

    /** Moves the next receive to {@code taken}. Returns false if there is none. */
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
