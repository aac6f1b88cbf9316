package org.jrdma.verbs.queue;

import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The work queues that complete into a completion queue, and the remaining capacity. */
public final class CompletionQueueUsers<W extends WorkQueue> {

    private final CompletionTable<W> table;
    private final Set<W> shared = ConcurrentHashMap.newKeySet();
    private final AtomicReference<@Nullable W> drained = new AtomicReference<>();
    private volatile int taken;
    private volatile int capacity;

    /**
     * The attachments of a completion queue.
     *
     * @param shared the shared receive queues that can complete there
     */
    public CompletionQueueUsers(int capacity, CompletionTable<W> shared) {
        this.capacity = capacity;
        this.table = new CompletionTable<>(shared);
    }

    public CompletionTable<W> table() {
        return table;
    }

    public Set<W> shared() {
        return shared;
    }

    public int capacity() {
        return capacity;
    }

    /** The capacity that is not reserved. */
    public int remainingCapacity() {
        return capacity - taken;
    }

    /** Reserves capacity for requests. Returns false if the remaining capacity is too small. */
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
     * Attaches a queue and reserves capacity for its requests. Returns false if the remaining
     * capacity is too small.
     */
    public boolean attach(W queue, boolean mayOverrun) {
        if (!reserve(queue.capacity(), mayOverrun)) {
            return false;
        }
        table.add(queue);
        return true;
    }

    /** Detaches a queue and releases its capacity. */
    public void detach(W queue) {
        table.remove(queue);
        release(queue.capacity());
        releaseMarkerSlot(queue);
    }

    /**
     * Changes the capacity after {@code resizing} has succeeded. Rejects a capacity below the
     * reserved one.
     */
    synchronized void resize(int newCapacity, Object name, Sharing.Resizing resizing)
            throws VerbsException {
        if (newCapacity < Math.max(1, taken)) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%s has queue pairs for %,d requests, so its capacity cannot be %,d",
                            name,
                            taken,
                            newCapacity));
        }
        resizing.run();
        capacity = newCapacity;
    }

    /** Reserves the spare entry, which one queue at a time can use for a marker. */
    public boolean reserveMarkerSlot(W queue) {
        return drained.compareAndSet(null, queue);
    }

    /**
     * Releases the spare entry if the queue has it. The drain and the close of a queue may both
     * call this method.
     */
    public void releaseMarkerSlot(W queue) {
        drained.compareAndSet(queue, null);
    }
}
