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
            TOP = lookup.findVarHandle(Doorbells.class, "top", Schedulable.class);
            RUNG = lookup.findVarHandle(Schedulable.class, "rung", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // through TOP
    private volatile @Nullable Schedulable top;

    void ring(Schedulable queuePair) {
        // Written even where it was true already: what was posted before is then seen by who
        // answers, whose own write comes after this one.
        if ((boolean) RUNG.getAndSet(queuePair, true)) {
            return;
        }
        Schedulable below;
        do {
            below = top;
            queuePair.rungBefore = below;
        } while (!TOP.compareAndSet(this, below, queuePair));
    }

    boolean areSilent() {
        return top == null;
    }

    /** Takes all queue pairs: this is the first, {@link #next} gives the others. */
    @Nullable Schedulable takeAll() {
        return top == null ? null : (Schedulable) TOP.getAndSet(this, null);
    }

    /** Lets a queue pair be rung again. Returns the one below. */
    @Nullable Schedulable next(Schedulable queuePair) {
        var below = queuePair.rungBefore;
        queuePair.rungBefore = null;
        RUNG.getAndSet(queuePair, false);
        return below;
    }
}
