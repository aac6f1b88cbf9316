package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The queue pairs whose doorbell was rung and not yet processed. Any thread may ring; the engine's
 * thread processes. A lock-free intrusive stack that allocates nothing: each queue pair is on it at
 * most once.
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

    @SuppressWarnings("unused") // through TOP
    private volatile @Nullable Schedulable top;

    void ring(Schedulable queuePair) {
        // Written even if it is already true. The engine's thread writes this flag later, and so
        // sees all work that was posted before this write.
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

    /** Removes all queue pairs and returns the first; {@link #next} returns the others. */
    @Nullable Schedulable takeAll() {
        return top == null ? null : (Schedulable) TOP.getAndSet(this, null);
    }

    /** Allows the doorbell of a queue pair to be rung again, and returns the next queue pair. */
    @Nullable Schedulable next(Schedulable queuePair) {
        var below = queuePair.below;
        queuePair.below = null;
        QUEUED.getAndSet(queuePair, false);
        return below;
    }
}
