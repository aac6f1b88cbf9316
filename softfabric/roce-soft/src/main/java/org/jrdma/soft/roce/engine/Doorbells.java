package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Queue pairs with new work, told by any thread and taken by the engine's. A stack that allocates
 * nothing: each queue pair stands in it once at most.
 */
final class Doorbells {

    private static final VarHandle TOP;
    private static final VarHandle RUNG;

    static {
        try {
            var lookup = MethodHandles.lookup();
            TOP = lookup.findVarHandle(Doorbells.class, "top", QueuePair.class);
            RUNG = lookup.findVarHandle(QueuePair.class, "rung", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through TOP
    private volatile @Nullable QueuePair top;

    void ring(QueuePair queuePair) {
        // Written even where it was true already: what was posted before is then seen by who
        // answers, whose own write comes after this one.
        if ((boolean) RUNG.getAndSet(queuePair, true)) {
            return;
        }
        QueuePair below;
        do {
            below = top;
            queuePair.rungBefore = below;
        } while (!TOP.compareAndSet(this, below, queuePair));
    }

    boolean areSilent() {
        return top == null;
    }

    /** Takes all queue pairs: this is the first, {@link #next} gives the others. */
    @Nullable QueuePair takeAll() {
        return top == null ? null : (QueuePair) TOP.getAndSet(this, null);
    }

    /** Lets a queue pair be rung again. Returns the one below. */
    @Nullable QueuePair next(QueuePair queuePair) {
        var below = queuePair.rungBefore;
        queuePair.rungBefore = null;
        RUNG.getAndSet(queuePair, false);
        return below;
    }
}
