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
 * The queue pairs that receive from a shared queue. Each of its receives may complete wherever one
 * of them completes its receives, so all have room there, however many queue pairs do.
 */
public final class Sharing<W extends WorkQueue> {

    private final W queue;
    private final Map<Attachments<W>, Integer> queuePairs = new HashMap<>();
    private final Set<Integer> ofDatagrams = ConcurrentHashMap.newKeySet();

    public Sharing(W queue) {
        this.queue = queue;
    }

    /** Takes room for one more queue pair's receives. False if there is not so much. */
    public synchronized boolean attach(Attachments<W> source, boolean evenWithoutRoom) {
        if (!queuePairs.containsKey(source)) {
            if (!source.takeRoom(queue.capacity(), evenWithoutRoom)) {
                return false;
            }
            source.shared().add(queue);
        }
        queuePairs.merge(source, 1, Integer::sum);
        return true;
    }

    public synchronized void detach(Attachments<W> source) {
        if (queuePairs.merge(source, -1, Integer::sum) == 0) {
            queuePairs.remove(source);
            source.shared().remove(queue);
            source.returnRoom(queue.capacity());
        }
    }

    /** What resizes the native queue and the queue that counts its slots. */
    @FunctionalInterface
    public interface Resizing {
        /** Resizes both. */
        void run() throws VerbsException;
    }

    /**
     * Resizes with the room that it needs.
     *
     * @throws IllegalArgumentException if there is not so much somewhere
     */
    public synchronized void resize(int newCapacity, Resizing resizing) throws VerbsException {
        var before = queue.capacity();
        var toReturn = new ArrayList<Attachments<W>>();
        var roomOfEach = newCapacity - before;
        try {
            for (var source : queuePairs.keySet()) {
                if (roomOfEach > 0) {
                    if (!source.takeRoom(roomOfEach, false)) {
                        throw new IllegalArgumentException(
                                String.format(
                                        Locale.ROOT,
                                        "%,d receives could overrun a completion queue that they complete into: it has room for %,d, and %,d more. Make it larger first.",
                                        newCapacity,
                                        before,
                                        source.room()));
                    }
                    toReturn.add(source);
                }
            }
            resizing.run();
            toReturn.clear();
        } finally {
            toReturn.forEach(source -> source.returnRoom(roomOfEach));
        }
        if (roomOfEach < 0) {
            queuePairs.keySet().forEach(source -> source.returnRoom(-roomOfEach));
        }
    }

    public synchronized int capacity() {
        return queue.capacity();
    }

    public void joined(int number, QueuePairType type) {
        if (type == QueuePairType.UNRELIABLE_DATAGRAM) {
            ofDatagrams.add(number);
        }
    }

    public void left(int number) {
        ofDatagrams.remove(number);
    }

    /** Whether a queue pair that receives from here is of datagrams. */
    public boolean isOfDatagrams(int queuePairNumber) {
        return ofDatagrams.contains(queuePairNumber);
    }
}
