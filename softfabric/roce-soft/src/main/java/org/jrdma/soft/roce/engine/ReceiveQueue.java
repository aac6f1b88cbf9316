package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * Places for messages to go, of one queue pair or shared by several of one engine. Posted to by one
 * thread at a time, whichever.
 */
public final class ReceiveQueue extends WorkRing<ReceiveWork> {

    private final ProtectionDomain domain;
    private final int maxBuffers;
    private final Runnable limitReached;
    private int limit;

    /**
     * @param domain whose regions its receives may name
     * @param limitReached run on the engine's thread when fewer are left than the limit set
     */
    public ReceiveQueue(
            ProtectionDomain domain, int capacity, int maxBuffers, Runnable limitReached) {
        super(capacity, () -> new ReceiveWork(maxBuffers));
        this.domain = domain;
        this.maxBuffers = maxBuffers;
        this.limitReached = limitReached;
    }

    /**
     * Asks to be told, once, when one is taken and fewer than {@code receives} are left; 0 never.
     * For the engine's thread.
     */
    public void limit(int receives) {
        limit = receives;
    }

    /** What is asked for; 0 from when it was told. For the engine's thread. */
    public int limit() {
        return limit;
    }

    ProtectionDomain domain() {
        return domain;
    }

    int maxBuffers() {
        return maxBuffers;
    }

    /** The next one, left where it is; null if there is none. */
    @Nullable ReceiveWork peek() {
        return head() == tail() ? null : slot(head());
    }

    /** Moves the next one to {@code taken}. False if there is none. */
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
