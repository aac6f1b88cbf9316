package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Slots that one thread at a time fills and the engine's thread consumes, in order, with no lock
 * between them.
 */
abstract class WorkRing<W> {

    private static final VarHandle HEAD;
    private static final VarHandle TAIL;

    static {
        try {
            var lookup = MethodHandles.lookup();
            HEAD = lookup.findVarHandle(WorkRing.class, "head", long.class);
            TAIL = lookup.findVarHandle(WorkRing.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final List<W> slots;
    private final int mask;
    private final int capacity;

    /** The oldest slot in use. Written by the engine. */
    private long head;

    /** The next slot to fill. Written by who posts. */
    private long tail;

    WorkRing(int capacity, Supplier<W> newSlot) {
        var length = length(capacity);
        this.slots = Stream.generate(newSlot).limit(length).toList();
        this.mask = length - 1;
        this.capacity = capacity;
    }

    /** How many slots there are: a power of two. */
    static int length(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
    }

    /** The slot to fill next, or null if all are in use. Nothing happens until {@link #post()}. */
    public final @Nullable W claim() {
        return tail - (long) HEAD.getAcquire(this) >= capacity ? null : slot(tail);
    }

    /** Hands the claimed slot to the engine, which must then be told by its doorbell. */
    public final void post() {
        TAIL.setRelease(this, tail + 1);
    }

    final W slot(long index) {
        return slots.get((int) index & mask);
    }

    final long head() {
        return head;
    }

    final long tail() {
        return (long) TAIL.getAcquire(this);
    }

    /** Gives back all slots before {@code index}. */
    final void release(long index) {
        HEAD.setRelease(this, index);
    }
}
