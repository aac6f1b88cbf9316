package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The slots of a send queue, receive queue or shared receive queue, with the requests in them.
 *
 * <p>Requests complete in the order in which they were posted, and the completion of a signaled
 * request also frees the slots of the unsignaled requests before it. At any time, at most one
 * thread posts and at most one thread completes. The two threads share no lock, because each writes
 * its own counter.
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

    private final boolean carriesDatagrams;
    private int capacity;

    /** The upper half of all request numbers, from the table of the completion queue. */
    private long tag;

    // The thread that posts writes one counter, the thread that completes writes the other: padding
    // keeps each out of the cache lines of the other, and of the fields that both threads read.
    // HotSpot lays out fields of one size in the order of their declaration. The posting thread
    // keeps a copy of the counter that it does not write: it reads the original, and so takes its
    // cache line from the completing thread, only if the queue is full by the copy.

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

    /**
     * The last value of {@link #released} that the posting thread read. Only that thread uses it.
     */
    private long releasedSeen;

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

    public WorkQueue(int capacity, boolean carriesDatagrams) {
        this.capacity = capacity;
        this.carriesDatagrams = carriesDatagrams;
    }

    /** Returns true if completions of the given queue pair contain the source of a datagram. */
    public boolean carriesDatagrams(int queuePairNumber) {
        return carriesDatagrams;
    }

    public final int capacity() {
        return capacity;
    }

    public final void capacity(int newCapacity) {
        capacity = newCapacity;
    }

    public final void tag(long number) {
        this.tag = number;
    }

    public int freeSlots() {
        return capacity - (int) (posted - (long) RELEASED.getAcquire(this));
    }

    /** Returns true if at least this number of slots is free. Only for the posting thread. */
    public boolean hasFreeSlots(int count) {
        if (posted - releasedSeen + count <= capacity) {
            return true;
        }
        releasedSeen = (long) RELEASED.getAcquire(this);
        return posted - releasedSeen + count <= capacity;
    }

    /** The number of requests that were posted and whose completions have not been polled. */
    public int outstanding() {
        return (int) ((long) POSTED.getAcquire(this) - (long) RELEASED.getAcquire(this));
    }

    public final long nextPosition() {
        return posted;
    }

    /** The number of a work request, which completions return. */
    public final long requestNumber(long position) {
        return tag | Integer.toUnsignedLong((int) position);
    }

    /** Takes slots. Must precede the post, which may complete before it returns. */
    public final void take(int slots) {
        POSTED.setRelease(this, posted + slots);
    }

    /** Returns slots whose requests the provider rejected. */
    public final void undoTake(int slots) {
        POSTED.setRelease(this, posted - slots);
    }

    /**
     * The full position of a request, given the lower half from its completion. {@link #release}
     * frees its slot and all slots before it.
     */
    public final long positionOf(int low) {
        acquirePosted();
        var first = released;
        return first + (low - (int) first);
    }

    /** Makes the data visible that the posting thread stored for a slot. */
    public final void acquirePosted() {
        POSTED.getAcquire(this);
    }

    /** Frees one slot, for requests that complete in any order and on any thread. */
    public final void releaseOne() {
        RELEASED.getAndAdd(this, 1L);
    }

    public final void release(long position) {
        RELEASED.setRelease(this, position + 1);
    }
}
