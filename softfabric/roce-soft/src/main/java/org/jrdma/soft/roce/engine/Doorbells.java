package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs whose doorbell was rung and has not been processed yet. Any thread may ring a
 * doorbell; only the thread that drives the engine processes doorbells. This class is a lock-free
 * stack, linked through fields of the queue pairs so that ringing allocates nothing. Each queue
 * pair is on the stack at most once.
 */
final class Doorbells {

    private static final VarHandle TOP;
    private static final VarHandle QUEUED;

    static {
        try {
            var lookup = MethodHandles.lookup();
            TOP = lookup.findVarHandle(Doorbells.class, "top", Schedulable.class);
            QUEUED = lookup.findVarHandle(Schedulable.class, "queued", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // Accessed through the VarHandle TOP.
    private volatile @Nullable Schedulable top;

    void ring(Schedulable queuePair) {
        // The flag is written even if it is already true. The thread that drives the engine later
        // clears the flag with an atomic read and write, and therefore sees all work that was
        // posted before this write.
        if ((boolean) QUEUED.getAndSet(queuePair, true)) {
            return;
        }
        Schedulable below;
        do {
            below = top;
            queuePair.below = below;
        } while (!TOP.compareAndSet(this, below, queuePair));
    }

    boolean isEmpty() {
        return top == null;
    }

    /**
     * Removes all queue pairs from the stack and returns the first of them, or null if there is
     * none. {@link #next} returns the others.
     */
    @Nullable Schedulable takeAll() {
        return top == null ? null : (Schedulable) TOP.getAndSet(this, null);
    }

    /**
     * Returns the queue pair that follows {@code queuePair} on the removed stack, or null if there
     * is none. Also permits the doorbell of {@code queuePair} to be rung again.
     */
    @Nullable Schedulable next(Schedulable queuePair) {
        var below = queuePair.below;
        queuePair.below = null;
        QUEUED.getAndSet(queuePair, false);
        return below;
    }
}
