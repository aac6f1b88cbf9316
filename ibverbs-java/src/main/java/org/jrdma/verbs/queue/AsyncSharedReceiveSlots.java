package org.jrdma.verbs.queue;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The receive requests of an asynchronous shared receive queue. They complete in any order. */
public final class AsyncSharedReceiveSlots extends AsyncWorkQueueSlots {

    /**
     * All shared receive queues of the asynchronous API. Their receives can complete in any
     * completion dispatcher.
     */
    public static final CompletedRequestQueueLookup<AsyncWorkQueueSlots> TABLE =
            CompletedRequestQueueLookup.ofShared();

    private final SharedReceiveCompletionReservations<AsyncWorkQueueSlots> sharedReservations =
            new SharedReceiveCompletionReservations<>(this);

    /** The transfers in flight, by the lower 32 bits of their positions. */
    private final ConcurrentHashMap<Integer, PendingTransfer> inFlight = new ConcurrentHashMap<>();

    public AsyncSharedReceiveSlots(int capacity) {
        super(capacity, 0, false);
    }

    public SharedReceiveCompletionReservations<AsyncWorkQueueSlots> sharedReservations() {
        return sharedReservations;
    }

    @Override
    public boolean carriesDatagrams(int queuePairNumber) {
        return sharedReservations.carriesDatagrams(queuePairNumber);
    }

    @Override
    public void remember(long position, PendingTransfer transfer) {
        inFlight.put((int) position, transfer);
    }

    @Override
    public void forget(long position) {
        inFlight.remove((int) position);
    }

    @Override
    public @Nullable PendingTransfer complete(int low) {
        acquirePosted();
        var transfer = inFlight.remove(low);
        if (transfer != null) {
            releaseOne();
        }
        return transfer;
    }

    @Override
    public Collection<PendingTransfer> inFlight() {
        return inFlight.values();
    }
}
