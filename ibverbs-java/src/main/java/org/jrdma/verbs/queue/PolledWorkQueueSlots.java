package org.jrdma.verbs.queue;

import org.jspecify.annotations.Nullable;

/**
 * A work queue of the polled API. Each slot contains the id that the program assigned to the
 * request in this slot.
 */
public sealed class PolledWorkQueueSlots extends WorkQueueSlots permits PolledSharedReceiveSlots {

    private final long[] ids;
    private final int mask;

    /**
     * The position of the marker request of {@code drain}; -1 if there is none. Accessed only by
     * the draining thread, which also polls the completion queue.
     */
    private long marker = -1;

    /**
     * The only thread that may prepare requests for this queue; null until a thread claims the
     * queue.
     */
    private @Nullable Thread owner;

    public PolledWorkQueueSlots(int capacity) {
        this(capacity, false);
    }

    public PolledWorkQueueSlots(int capacity, boolean carriesDatagrams) {
        this(
                capacity,
                // The additional slot is for the marker request of a drain.
                Integer.highestOneBit(capacity) * 2,
                carriesDatagrams);
    }

    /**
     * Creates a work queue.
     *
     * @param slots the number of slots, a power of 2; 0 for a subclass that stores the ids itself
     */
    public PolledWorkQueueSlots(int capacity, int slots) {
        this(capacity, slots, false);
    }

    private PolledWorkQueueSlots(int capacity, int slots, boolean carriesDatagrams) {
        super(capacity, carriesDatagrams);
        this.ids = new long[slots];
        this.mask = slots - 1;
    }

    /**
     * Returns the owner of the queue. If the queue has no owner, or the owner has terminated, the
     * current thread becomes the owner.
     */
    final synchronized Thread claim() {
        if (owner == null || !owner.isAlive()) {
            owner = Thread.currentThread();
        }
        return owner;
    }

    /** Stores the id of the request at a position and returns the number of the request. */
    public long number(long position, long id) {
        ids[(int) position & mask] = id;
        return requestNumber(position);
    }

    /**
     * Frees the slot of a completed request and all earlier slots. Returns the id of the request.
     *
     * @param low the lower 32 bits of the request's position
     */
    public long complete(int low) {
        var position = positionOf(low);
        var id = ids[(int) position & mask];
        release(position);
        return id;
    }

    /**
     * Takes the slot beyond the capacity for the marker request of {@code drain}, and returns its
     * position.
     */
    public long takeMarkerSlot() {
        marker = nextPosition();
        take(1);
        return marker;
    }

    public boolean hasMarker() {
        return marker >= 0;
    }

    public boolean isMarker(int low) {
        return marker >= 0 && (int) marker == low;
    }

    /**
     * Forgets the marker. Called after the marker has completed or the provider has rejected it.
     */
    public void clearMarker() {
        marker = -1;
    }
}
