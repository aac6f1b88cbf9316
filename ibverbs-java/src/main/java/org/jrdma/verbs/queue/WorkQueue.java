package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * One direction of a queue pair as the SDK counts it: which slots are taken, and whose request is
 * in which.
 *
 * <p>Requests complete in the order they were posted, and a signalled completion gives back the
 * slots of all the unsignalled requests before it. One thread posts at a time, one thread completes
 * at a time, and the two share no lock: each writes a counter of its own.
 */
public abstract sealed class WorkQueue permits PolledWorkQueue, AsyncWorkQueue {

    private static final VarHandle POSTED;
    private static final VarHandle RELEASED;

    static {
        try {
            var lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(WorkQueue.class, "posted", long.class);
            RELEASED = lookup.findVarHandle(WorkQueue.class, "released", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final boolean isOfDatagrams;
    private int capacity;

    /** What the number of each request begins with, from the completion queue's table. */
    private long tag;

    // The thread that posts writes one counter, the thread that completes writes the other: padding
    // keeps each out of the cache lines of the other, and of the fields that both threads read.
    // HotSpot lays out fields of one size in the order of their declaration.

    @SuppressWarnings("unused")
    private long pad1,
            pad2,
            pad3,
            pad4,
            pad5,
            pad6,
            pad7,
            pad8,
            pad9,
            pad10,
            pad11,
            pad12,
            pad13,
            pad14,
            pad15;

    @SuppressWarnings("unused") // through POSTED
    private long posted;

    @SuppressWarnings("unused")
    private long pad16,
            pad17,
            pad18,
            pad19,
            pad20,
            pad21,
            pad22,
            pad23,
            pad24,
            pad25,
            pad26,
            pad27,
            pad28,
            pad29,
            pad30;

    @SuppressWarnings("unused") // through RELEASED
    private long released;

    @SuppressWarnings("unused")
    private long pad31,
            pad32,
            pad33,
            pad34,
            pad35,
            pad36,
            pad37,
            pad38,
            pad39,
            pad40,
            pad41,
            pad42,
            pad43,
            pad44,
            pad45;

    public WorkQueue(int capacity, boolean isOfDatagrams) {
        this.capacity = capacity;
        this.isOfDatagrams = isOfDatagrams;
    }

    /** Whether completions of a queue pair's receives here say where a datagram came from. */
    public boolean isOfDatagrams(int queuePairNumber) {
        return isOfDatagrams;
    }

    public final int capacity() {
        return capacity;
    }

    public final void capacity(int newCapacity) {
        capacity = newCapacity;
    }

    public final void tagged(long number) {
        this.tag = number;
    }

    public int freeSlots() {
        return capacity - (int) (posted - (long) RELEASED.getAcquire(this));
    }

    /** How many requests were posted whose completion has not been seen. */
    public int outstanding() {
        return (int) ((long) POSTED.getAcquire(this) - (long) RELEASED.getAcquire(this));
    }

    public final long nextPosition() {
        return posted;
    }

    /**
     * The number that a request carries through the adapter, by which its completion finds back
     * here.
     */
    public final long requestNumber(long position) {
        return tag | Integer.toUnsignedLong((int) position);
    }

    /**
     * Takes slots, before the post: the completion may be seen on another thread before the post
     * returns.
     */
    public final void take(int slots) {
        POSTED.setRelease(this, posted + slots);
    }

    /** Gives back slots whose requests the provider refused. */
    public final void giveBack(int slots) {
        POSTED.setRelease(this, posted - slots);
    }

    /**
     * The full position of a completion that carries the low half of it; its slot and all before it
     * are free after {@link #release}.
     */
    public final long positionOf(int low) {
        acquirePosted();
        var first = released;
        return first + (low - (int) first);
    }

    /** What was stored with a slot is visible from here on. */
    public final void acquirePosted() {
        POSTED.getAcquire(this);
    }

    /** Frees one slot, whichever: for requests that complete in any order and on any thread. */
    public final void releaseOne() {
        RELEASED.getAndAdd(this, 1L);
    }

    public final void release(long position) {
        RELEASED.setRelease(this, position + 1);
    }
}
