package org.jrdma.verbs.queue;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the work queue to which a completed request was posted.
 *
 * <p>A work request has a 64-bit number, which its completion contains. The upper half identifies
 * the work queue: one bit that is set for shared receive queues, which have a separate table; 19
 * bits for the index in the table; and 12 bits for the generation of the index. A queue that reuses
 * the index of a closed queue has another generation. Therefore, a late completion of the closed
 * queue is not assigned to its successor. The lower half is the position of the request in its
 * queue or, for polled shared receive queues, the number of its slot.
 */
public final class CompletedRequestQueueLookup<W extends WorkQueueSlots> {

    private static final int GENERATION_BITS = 12;
    private static final int GENERATIONS = 1 << GENERATION_BITS;
    private static final int PLACES = 1 << (Integer.SIZE - 1 - GENERATION_BITS);
    private static final int SHARED = Integer.MIN_VALUE;

    private final CompletedRequestQueueLookup<W> shared;
    private final int mark;

    /** The table. Changes replace the array, so that polling threads can read it without a lock. */
    private volatile Route<?>[] routes = {};

    private final ArrayDeque<Integer> freePlaces = new ArrayDeque<>();

    /**
     * Creates the table of a completion queue.
     *
     * @param shared the table of the shared receive queues whose receives can complete in it
     */
    public CompletedRequestQueueLookup(CompletedRequestQueueLookup<W> shared) {
        this.shared = shared;
        this.mark = 0;
    }

    private CompletedRequestQueueLookup() {
        this.shared = this;
        this.mark = SHARED;
    }

    /**
     * Creates a table of shared receive queues. Their receives can complete in any completion
     * queue.
     */
    public static <W extends WorkQueueSlots> CompletedRequestQueueLookup<W> ofShared() {
        return new CompletedRequestQueueLookup<>();
    }

    private record Route<W>(int generation, @Nullable W queue) {}

    /** Adds a work queue and sets its tag, the upper half of the numbers of its requests. */
    public synchronized void add(W queue) {
        var before = routes;
        var place = freePlaces.isEmpty() ? before.length : freePlaces.remove();
        if (place == PLACES) {
            throw new IllegalStateException(
                    String.format(
                            Locale.ROOT,
                            "Cannot add a work queue: the completion queue already has the maximum of %,d",
                            PLACES));
        }
        var generation = place < before.length ? (before[place].generation + 1) % GENERATIONS : 0;
        var after = Arrays.copyOf(before, Math.max(before.length, place + 1));
        after[place] = new Route<>(generation, queue);
        routes = after;
        queue.tag((long) (mark | (place << GENERATION_BITS) | generation) << Integer.SIZE);
    }

    /** Removes a work queue. Completions that arrive later for this queue are ignored. */
    public synchronized void remove(W queue) {
        var after = routes.clone();
        for (var place = 0; place < after.length; place++) {
            if (after[place].queue == queue) {
                after[place] = new Route<W>(after[place].generation, null);
                // The method add() takes the index that has been free the longest.
                freePlaces.add(place);
            }
        }
        routes = after;
    }

    @SuppressWarnings("unchecked") // Only add() fills the table, so the types match.
    public void forEach(Consumer<W> action) {
        for (var route : routes) {
            if (route.queue != null) {
                action.accept((W) route.queue);
            }
        }
    }

    /** Returns the work queue that a request was posted to; null if this queue is closed. */
    @SuppressWarnings("unchecked") // Only add() fills the table, so the types match.
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
