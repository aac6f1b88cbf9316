package org.jrdma.verbs.queue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;

/**
 * The queue pairs that use one shared receive queue, and the capacity that its receives need. A
 * receive may complete in the completion queue of any of these queue pairs. Each of these
 * completion queues therefore reserves capacity for all receives. It reserves the capacity only
 * once, even if several queue pairs use it.
 */
public final class SharedReceiveCompletionReservations<W extends WorkQueueSlots> {

    private final W queue;
    private final Map<CompletionQueueReservations<W>, Integer> queuePairs = new HashMap<>();
    private final Set<Integer> datagramQueuePairs = ConcurrentHashMap.newKeySet();

    public SharedReceiveCompletionReservations(W queue) {
        this.queue = queue;
    }

    /**
     * Adds a queue pair, whose receives complete in the completion queue {@code source}. If it is
     * the first one for that completion queue, reserves capacity there. Returns false if the
     * remaining capacity is too small.
     *
     * @param mayOverrun true to reserve more than the remaining capacity
     */
    public synchronized boolean attach(CompletionQueueReservations<W> source, boolean mayOverrun) {
        if (!queuePairs.containsKey(source)) {
            if (!source.reserve(queue.capacity(), mayOverrun)) {
                return false;
            }
            source.shared().add(queue);
        }
        queuePairs.merge(source, 1, Integer::sum);
        return true;
    }

    public synchronized void detach(CompletionQueueReservations<W> source) {
        if (queuePairs.merge(source, -1, Integer::sum) == 0) {
            queuePairs.remove(source);
            source.shared().remove(queue);
            source.release(queue.capacity());
        }
    }

    /** An action that resizes the native queue and the work queue. */
    @FunctionalInterface
    public interface Resizing {
        /** Resizes the native queue and the work queue. */
        void run() throws VerbsException;
    }

    /**
     * Resizes the shared receive queue and adjusts the capacity that the completion queues have
     * reserved for it.
     *
     * @param resizing the action that resizes the native queue and the work queue
     * @throws IllegalArgumentException if the remaining capacity of a completion queue is too small
     */
    public synchronized void resize(int newCapacity, Resizing resizing) throws VerbsException {
        var before = queue.capacity();
        var reserved = new ArrayList<CompletionQueueReservations<W>>();
        var additional = newCapacity - before;
        try {
            for (var source : queuePairs.keySet()) {
                if (additional > 0) {
                    if (!source.reserve(additional, false)) {
                        throw new IllegalArgumentException(
                                String.format(
                                        Locale.ROOT,
                                        "%,d receives could overrun a completion queue that they complete into, which has reserved capacity for %,d of them and has a remaining capacity of %,d. Increase its capacity first.",
                                        newCapacity,
                                        before,
                                        source.remainingCapacity()));
                    }
                    reserved.add(source);
                }
            }
            resizing.run();
            reserved.clear();
        } finally {
            reserved.forEach(source -> source.release(additional));
        }
        if (additional < 0) {
            queuePairs.keySet().forEach(source -> source.release(-additional));
        }
    }

    public synchronized int capacity() {
        return queue.capacity();
    }

    public void addQueuePair(int number, QueuePairType type) {
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            datagramQueuePairs.add(number);
        }
    }

    public void removeQueuePair(int number) {
        datagramQueuePairs.remove(number);
    }

    /**
     * Returns true if the queue pair with the given number is a datagram queue pair that uses this
     * shared receive queue.
     */
    public boolean carriesDatagrams(int queuePairNumber) {
        return datagramQueuePairs.contains(queuePairNumber);
    }
}
