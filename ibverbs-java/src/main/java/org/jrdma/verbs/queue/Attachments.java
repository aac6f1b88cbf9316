package org.jrdma.verbs.queue;

import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** The work queues that complete into a completion queue, and the room that they leave. */
public final class Attachments<W extends WorkQueue> {

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
    public Attachments(int capacity, CompletionTable<W> shared) {
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

    /** The number of requests that can still be given to queue pairs. */
    public int room() {
        return capacity - taken;
    }

    /** Takes room for requests; returns false if there is less. */
    public synchronized boolean takeRoom(int requests, boolean evenWithoutRoom) {
        if (requests > room() && !evenWithoutRoom) {
            return false;
        }
        taken += requests;
        return true;
    }

    /** Returns room that was taken. */
    public synchronized void returnRoom(int requests) {
        taken -= requests;
    }

    /** Takes room for the requests of a queue, and adds it; returns false if there is less. */
    public boolean attach(W queue, boolean evenWithoutRoom) {
        if (!takeRoom(queue.capacity(), evenWithoutRoom)) {
            return false;
        }
        table.add(queue);
        return true;
    }

    /** Removes a queue. */
    public void detach(W queue) {
        table.remove(queue);
        returnRoom(queue.capacity());
        returnSpare(queue);
    }

    /** Sets the capacity by an action that may fail, unless more room than that is taken. */
    synchronized void resize(int newCapacity, Object name, Sharing.Resizing resizing)
            throws VerbsException {
        if (newCapacity < Math.max(1, taken)) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%s has queue pairs for %,d requests, and cannot have room for %,d only",
                            name,
                            taken,
                            newCapacity));
        }
        resizing.run();
        capacity = newCapacity;
    }

    /**
     * Takes the place that is reserved for the marker of a {@code drain}; one queue at a time has
     * it.
     */
    public boolean takeSpare(W queue) {
        return drained.compareAndSet(null, queue);
    }

    /** Returns the place if the queue has it: its drain and its close may end at the same time. */
    public void returnSpare(W queue) {
        drained.compareAndSet(queue, null);
    }
}
