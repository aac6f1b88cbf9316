package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ring buffer of slots that one thread at a time fills and the engine's thread consumes, without
 * locks.
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

    private final Supplier<W> newSlot;
    private List<W> slots;
    private int mask;
    private int capacity;

    /** The oldest slot in use. Written by the engine's thread. */
    private long head;

    /** The next slot to fill. Written by the posting thread. */
    private long tail;

    WorkRing(int capacity, Supplier<W> newSlot) {
        this.newSlot = newSlot;
        var length = length(capacity);
        this.slots = Stream.generate(newSlot).limit(length).toList();
        this.mask = length - 1;
        this.capacity = capacity;
    }

    /** Returns the number of slots: a power of two. */
    static int length(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
    }

    /** Returns the maximum number of slots in use. */
    public final int capacity() {
        return capacity;
    }

    /**
     * Changes the capacity and keeps the work in the slots. For the engine's thread, while no
     * thread posts.
     *
     * @return false, with nothing changed, if more slots are in use
     */
    public final boolean resize(int newCapacity) {
        if (tail() - head > newCapacity) {
            return false;
        }
        var length = length(newCapacity);
        var kept = (int) (tail() - head);
        var resized = new ArrayList<W>(length);
        for (var i = 0; i < length; i++) {
            var index = head + ((i - head) & (length - 1)); // the index whose slot is i
            resized.add(index - head < kept ? slot(index) : newSlot.get());
        }
        slots = List.copyOf(resized);
        mask = length - 1;
        capacity = newCapacity;
        return true;
    }

    /**
     * Returns the slot to fill next, or null if all are in use. It is not visible to the engine
     * until {@link #post()}.
     */
    public final @Nullable W claim() {
        return tail - (long) HEAD.getAcquire(this) >= capacity ? null : slot(tail);
    }

    /** Returns true if at least {@code works} slots are free. */
    public final boolean hasFreeSlots(int works) {
        return tail + works - (long) HEAD.getAcquire(this) <= capacity;
    }

    /** Passes the claimed slot to the engine. The caller must then ring the doorbell. */
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

    /** Frees all slots before {@code index}. */
    final void release(long index) {
        HEAD.setRelease(this, index);
    }
}
