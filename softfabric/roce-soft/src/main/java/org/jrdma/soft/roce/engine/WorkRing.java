package org.jrdma.soft.roce.engine;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A ring buffer of work requests. One thread at a time fills slots, and the thread that drives the
 * engine consumes them; the two need no lock.
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

    /** The index of the oldest slot in use. Written by the thread that drives the engine. */
    private long head;

    /** The index of the next slot to fill. Written by the posting thread. */
    private long tail;

    WorkRing(int capacity, Supplier<W> newSlot) {
        this.newSlot = newSlot;
        var length = length(capacity);
        this.slots = Stream.generate(newSlot).limit(length).toList();
        this.mask = length - 1;
        this.capacity = capacity;
    }

    /**
     * Returns the number of slots that a ring of the given capacity allocates: a power of two that
     * is not less than the capacity.
     */
    static int length(int capacity) {
        return Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
    }

    /** Returns the maximum number of slots that may be in use. */
    public final int capacity() {
        return capacity;
    }

    /**
     * Changes the capacity and keeps the work requests in the slots. Must be called by the thread
     * that drives the engine, while no thread posts.
     *
     * @return false if more slots are in use than the new capacity permits; nothing was changed
     */
    public final boolean resize(int newCapacity) {
        if (tail() - head > newCapacity) {
            return false;
        }
        var length = length(newCapacity);
        var kept = (int) (tail() - head);
        var resized = new ArrayList<W>(length);
        for (var i = 0; i < length; i++) {
            var index = head + ((i - head) & (length - 1)); // The index that slot i will have.
            resized.add(index - head < kept ? slot(index) : newSlot.get());
        }
        slots = List.copyOf(resized);
        mask = length - 1;
        capacity = newCapacity;
        return true;
    }

    /**
     * Returns the slot to fill next, or null if all slots are in use. The engine sees the slot only
     * after {@link #post()}.
     */
    public final @Nullable W claim() {
        return tail - (long) HEAD.getAcquire(this) >= capacity ? null : slot(tail);
    }

    /** Returns true if at least {@code works} more work requests can be posted. */
    public final boolean hasFreeSlots(int works) {
        return tail + works - (long) HEAD.getAcquire(this) <= capacity;
    }

    /**
     * Passes the slot that {@link #claim} returned to the engine. The caller must then ring the
     * doorbell of the queue pair.
     */
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

    /** Frees all slots before {@code index} for new work requests. */
    final void release(long index) {
        HEAD.setRelease(this, index);
    }
}
