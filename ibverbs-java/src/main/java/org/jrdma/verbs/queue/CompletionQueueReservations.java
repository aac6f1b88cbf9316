package org.jrdma.verbs.queue;

import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The work queues whose requests complete in a completion queue, and the capacity that they have
 * reserved in it. A completion queue with enough capacity for all requests cannot overrun.
 */
public final class CompletionQueueReservations<W extends WorkQueueSlots> {

    private final CompletedRequestQueueLookup<W> table;
    private final Set<W> shared = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable W> markerOwner = new AtomicReference<>();

    /**
     * The action for work queues that are added after the completions have stopped: it fails them.
     * Before that, it does nothing.
     */
    private volatile Consumer<W> failure = _ -> {};

    private volatile int taken;
    private volatile int capacity;

    /**
     * Creates the state of a completion queue that no work queue uses yet.
     *
     * @param shared the shared receive queues whose receives can complete in the completion queue
     */
    public CompletionQueueReservations(int capacity, CompletedRequestQueueLookup<W> shared) {
        this.capacity = capacity;
        this.table = new CompletedRequestQueueLookup<>(shared);
    }

    public CompletedRequestQueueLookup<W> table() {
        return table;
    }

    public Set<W> shared() {
        return shared;
    }

    public int capacity() {
        return capacity;
    }

    /** Returns the capacity that no work queue has reserved. */
    public int remainingCapacity() {
        return capacity - taken;
    }

    /**
     * Reserves capacity for the completions of requests. Returns false if the remaining capacity is
     * too small.
     *
     * @param mayOverrun true to reserve more than the remaining capacity
     */
    public synchronized boolean reserve(int requests, boolean mayOverrun) {
        if (requests > remainingCapacity() && !mayOverrun) {
            return false;
        }
        taken += requests;
        return true;
    }

    /** Releases reserved capacity. */
    public synchronized void release(int requests) {
        taken -= requests;
    }

    /**
     * Adds a work queue and reserves capacity for its requests. Returns false if the remaining
     * capacity is too small.
     *
     * @param mayOverrun true to reserve more than the remaining capacity
     */
    public boolean attach(W queue, boolean mayOverrun) {
        if (!reserve(queue.capacity(), mayOverrun)) {
            return false;
        }
        table.add(queue);
        failure.accept(queue);
        return true;
    }

    /** Calls {@code fail} for all work queues, and for those that are added later. */
    void failAll(Consumer<W> fail) {
        failure = fail;
        table.forEach(fail);
    }

    /** Removes a work queue and releases the capacity that it has reserved. */
    public void detach(W queue) {
        table.remove(queue);
        release(queue.capacity());
        releaseMarkerSlot(queue);
    }

    /**
     * Runs {@code resizing}, which resizes the native queue, and then changes the capacity.
     *
     * @throws IllegalArgumentException if the new capacity is below the reserved capacity
     */
    synchronized void resize(
            int newCapacity, Object name, SharedReceiveCompletionReservations.Resizing resizing)
            throws VerbsException {
        if (newCapacity < Math.max(1, taken)) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%s has reserved capacity for %,d requests, so its capacity cannot be %,d",
                            name,
                            taken,
                            newCapacity));
        }
        resizing.run();
        capacity = newCapacity;
    }

    /**
     * Reserves the spare entry of the completion queue for the marker request of {@code drain}.
     * Returns false if another work queue has reserved the entry.
     */
    public boolean reserveMarkerSlot(W queue) {
        return markerOwner.compareAndSet(null, queue);
    }

    /**
     * Releases the spare entry if the given work queue has reserved it. Otherwise does nothing,
     * because the drain and the close of a work queue may both call this method.
     */
    public void releaseMarkerSlot(W queue) {
        markerOwner.compareAndSet(queue, null);
    }
}
