package org.jrdma.verbs.queue;

import org.jspecify.annotations.Nullable;

/** A work queue of the polled tier. Each slot holds the id of its request. */
public sealed class PolledWorkQueue extends WorkQueue permits PolledSharedReceives {

    private final long[] ids;
    private final int mask;

    /** Accessed only by the draining thread, which also polls. */
    private long marker = -1;

    /** The only thread that may prepare requests. */
    private @Nullable Thread owner;

    public PolledWorkQueue(int capacity) {
        this(capacity, false);
    }

    public PolledWorkQueue(int capacity, boolean carriesDatagrams) {
        this(
                capacity,
                Integer.highestOneBit(capacity) * 2, // the marker uses a slot beyond the capacity
                carriesDatagrams);
    }

    /** Constructor for subclasses with their own slots. */
    public PolledWorkQueue(int capacity, int slots) {
        this(capacity, slots, false);
    }

    private PolledWorkQueue(int capacity, int slots, boolean carriesDatagrams) {
        super(capacity, carriesDatagrams);
        this.ids = new long[slots];
        this.mask = slots - 1;
    }

    /** Returns the owner: the current thread unless another live thread is it. */
    final synchronized Thread claim() {
        if (owner == null || !owner.isAlive()) {
            owner = Thread.currentThread();
        }
        return owner;
    }

    /** Stores the id of the request at a position and returns the request number. */
    public long number(long position, long id) {
        ids[(int) position & mask] = id;
        return requestNumber(position);
    }

    /** Frees the slots up to that of a completion and returns the id of its request. */
    public long complete(int low) {
        var position = positionOf(low);
        var id = ids[(int) position & mask];
        release(position);
        return id;
    }

    /** Takes the slot beyond the capacity for the marker of a drain. */
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

    /** Clears the marker after it has completed or was rejected. */
    public void clearMarker() {
        marker = -1;
    }
}
