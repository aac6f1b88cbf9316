package org.jrdma.verbs.queue;

import org.jspecify.annotations.Nullable;

/**
 * A direction of a queue pair whose completions the user polls: slots hold the numbers that the
 * user gave to requests.
 */
public sealed class PolledWorkQueue extends WorkQueue permits PolledSharedReceives {

    private final long[] ids;
    private final int mask;

    /** Written and read by the thread that drains, whose cursor alone may complete meanwhile. */
    private long marker = -1;

    /** The thread that prepares requests. */
    private @Nullable Thread owner;

    public PolledWorkQueue(int capacity) {
        this(capacity, false);
    }

    public PolledWorkQueue(int capacity, boolean isOfDatagrams) {
        this(
                capacity,
                Integer.highestOneBit(capacity) * 2, // the marker has a slot beyond the capacity
                isOfDatagrams);
    }

    /** Of those who keep their slots themselves. */
    public PolledWorkQueue(int capacity, int slots) {
        this(capacity, slots, false);
    }

    private PolledWorkQueue(int capacity, int slots, boolean isOfDatagrams) {
        super(capacity, isOfDatagrams);
        this.ids = new long[slots];
        this.mask = slots - 1;
    }

    /** Makes the current thread the owner, unless another is alive; returns the owner. */
    final synchronized Thread claim() {
        if (owner == null || !owner.isAlive()) {
            owner = Thread.currentThread();
        }
        return owner;
    }

    /** Keeps the user's number of the request at a position, and gives it the adapter's. */
    public long number(long position, long id) {
        ids[(int) position & mask] = id;
        return requestNumber(position);
    }

    /** Releases what a completion releases, and returns the user's number of its request. */
    public long complete(int low) {
        var position = positionOf(low);
        var id = ids[(int) position & mask];
        release(position);
        return id;
    }

    /** Takes the slot beyond the capacity, for a request whose completion the user is not shown. */
    public long takeForMarker() {
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

    /** For when the marker has completed or was refused. */
    public void markerIsOver() {
        marker = -1;
    }
}
