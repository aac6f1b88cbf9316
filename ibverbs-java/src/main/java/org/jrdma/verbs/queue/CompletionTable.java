package org.jrdma.verbs.queue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Which work queues complete into a completion queue, so that a completion finds its own.
 *
 * <p>A request carries 64 bits through the adapter. Its upper half names the work queue: a bit that
 * is set for shared receive queues, which have a table of their own; 19 bits of place in the table;
 * and 12 of how often the place was used before, so that a late completion of a closed queue pair
 * is not taken for one of its successor's. The lower half is the request's position in its queue,
 * or the number of its slot in a shared one.
 */
public final class CompletionTable<W extends WorkQueue> {

    private static final int GENERATION_BITS = 12;
    private static final int GENERATIONS = 1 << GENERATION_BITS;
    private static final int PLACES = 1 << (Integer.SIZE - 1 - GENERATION_BITS);
    private static final int SHARED = Integer.MIN_VALUE;

    private final CompletionTable<W> shared;
    private final int mark;

    /** Replaced as a whole, so that whoever polls reads it without a lock. */
    private volatile Route<?>[] routes = {};

    private final ArrayDeque<Integer> freePlaces = new ArrayDeque<>();

    /** A table of a completion queue, beside a table of shared receive queues. */
    public CompletionTable(CompletionTable<W> shared) {
        this.shared = shared;
        this.mark = 0;
    }

    private CompletionTable() {
        this.shared = this;
        this.mark = SHARED;
    }

    /** A table of shared receive queues, which complete into any completion queue. */
    public static <W extends WorkQueue> CompletionTable<W> ofShared() {
        return new CompletionTable<>();
    }

    private record Route<W>(int generation, @Nullable W queue) {}

    /** Gives a queue a place, and tells it. */
    public synchronized void add(W queue) {
        var before = routes;
        var place = freePlaces.isEmpty() ? before.length : freePlaces.remove();
        if (place == PLACES) {
            throw new IllegalStateException(
                    String.format(
                            Locale.ROOT, "There is a place for %,d work queues at most", PLACES));
        }
        var generation = place < before.length ? (before[place].generation + 1) % GENERATIONS : 0;
        var after = Arrays.copyOf(before, Math.max(before.length, place + 1));
        after[place] = new Route<>(generation, queue);
        routes = after;
        queue.tagged((long) (mark | (place << GENERATION_BITS) | generation) << Integer.SIZE);
    }

    /** Takes the place away. Completions that still come for the queue are nobody's. */
    public synchronized void remove(W queue) {
        var after = routes.clone();
        for (var place = 0; place < after.length; place++) {
            if (after[place].queue == queue) {
                after[place] = new Route<W>(after[place].generation, null);
                freePlaces.add(place); // the least recently used one is taken first
            }
        }
        routes = after;
    }

    @SuppressWarnings("unchecked") // only add() fills the table
    public void forEach(Consumer<W> action) {
        for (var route : routes) {
            if (route.queue != null) {
                action.accept((W) route.queue);
            }
        }
    }

    /** The queue that a request's number names; null if it is closed. */
    @SuppressWarnings("unchecked") // only add() fills the table
    public @Nullable W find(long requestNumber) {
        var upper = (int) (requestNumber >>> Integer.SIZE);
        var place = (upper & ~SHARED) >>> GENERATION_BITS;
        var current = (upper < 0 ? shared : this).routes;
        if (place >= current.length) {
            return null;
        }
        var route = (Route<W>) current[place];
        return route.generation == (upper & (GENERATIONS - 1)) ? route.queue : null;
    }
}
