package org.jrdma.verbs.queue;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The slots of a send queue, a receive queue or a shared receive queue. Each request in flight uses
 * one slot.
 *
 * <p>Requests complete in the order in which they were posted. The completion of a signaled request
 * also frees the slots of the unsignaled requests before it. At any time, at most one thread posts
 * and at most one thread completes requests. The two threads share no lock, because each thread
 * writes its own counter.
 */
public abstract sealed class WorkQueueSlots permits PolledWorkQueueSlots, AsyncWorkQueueSlots {

    /** The largest capacity that a program can request, which exceeds that of every device. */
    public static final int MAX_CAPACITY = 1 << 22;

    private static final VarHandle POSTED;
    private static final VarHandle RELEASED;

    static {
        try {
            var lookup = MethodHandles.lookup();
            POSTED = lookup.findVarHandle(WorkQueueSlots.class, "posted", long.class);
            RELEASED = lookup.findVarHandle(WorkQueueSlots.class, "released", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final boolean carriesDatagrams;
    private int capacity;

    /** The upper half of all request numbers, which {@link CompletedRequestQueueLookup} assigns. */
    private long tag;

    // The posting thread writes the counter "posted", and the completing thread writes the counter
    // "released". The padding puts each counter in cache lines of its own, because a write by one
    // thread would otherwise delay the other thread's accesses to the same cache line. HotSpot lays
    // out fields of one size in the order of their declaration.
    // The posting thread keeps a copy of "released". It reads the counter itself, and thus takes
    // the cache line from the completing thread, only if the queue is full according to the copy.

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

    @SuppressWarnings("unused") // Accessed through POSTED.
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

    @SuppressWarnings("unused") // Accessed through RELEASED.
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

    public WorkQueueSlots(int capacity, boolean carriesDatagrams) {
        this.capacity = capacity;
        this.carriesDatagrams = carriesDatagrams;
    }

    /**
     * Returns true if the given queue pair receives datagrams, so that its completions contain the
     * source of a datagram.
     */
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

    /**
     * Returns the number of requests that were posted and whose completions have not been polled.
     */
    public int outstanding() {
        return (int) ((long) POSTED.getAcquire(this) - (long) RELEASED.getAcquire(this));
    }

    public final long nextPosition() {
        return posted;
    }

    /**
     * Returns the number of the work request at a position. The completion of the request contains
     * this number.
     */
    public final long requestNumber(long position) {
        return tag | Integer.toUnsignedLong((int) position);
    }

    /**
     * Takes slots for requests. The caller must take the slots before it posts, because another
     * thread may poll the completions before the post returns.
     */
    public final void take(int slots) {
        POSTED.setRelease(this, posted + slots);
    }

    /** Frees the slots of requests that the provider has rejected. */
    public final void undoTake(int slots) {
        POSTED.setRelease(this, posted - slots);
    }

    /**
     * Returns the position of a completed request, computed from its lower half. {@link #release}
     * frees the slot at this position and all slots before it.
     *
     * @param low the lower 32 bits of the position, which are in the completion
     */
    public final long positionOf(int low) {
        acquirePosted();
        var first = released;
        return first + (low - (int) first);
    }

    /**
     * Makes the data visible to the calling thread that the posting thread stored before {@link
     * #take}.
     */
    public final void acquirePosted() {
        POSTED.getAcquire(this);
    }

    /** Frees one slot. Used by queues whose requests complete in any order and on any thread. */
    public final void releaseOne() {
        RELEASED.getAndAdd(this, 1L);
    }

    public final void release(long position) {
        RELEASED.setRelease(this, position + 1);
    }
}
