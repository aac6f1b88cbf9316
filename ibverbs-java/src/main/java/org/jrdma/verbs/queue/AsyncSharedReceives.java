package org.jrdma.verbs.queue;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The receives of an asynchronous shared receive queue, which complete in any order. */
public final class AsyncSharedReceives extends AsyncWorkQueue {

    /** The shared receive queues of this tier, whose receives complete into any dispatcher. */
    public static final CompletionTable<AsyncWorkQueue> TABLE = CompletionTable.ofShared();

    private final Sharing<AsyncWorkQueue> sharing = new Sharing<>(this);

    /** The transfers in flight by the lower half of their positions. */
    private final ConcurrentHashMap<Integer, PendingTransfer> underWay = new ConcurrentHashMap<>();

    public AsyncSharedReceives(int capacity) {
        super(capacity, 0, false);
    }

    public Sharing<AsyncWorkQueue> sharing() {
        return sharing;
    }

    @Override
    public boolean carriesDatagrams(int queuePairNumber) {
        return sharing.carriesDatagrams(queuePairNumber);
    }

    @Override
    public void remember(long position, PendingTransfer transfer) {
        underWay.put((int) position, transfer);
    }

    @Override
    public void forget(long position) {
        underWay.remove((int) position);
    }

    @Override
    public @Nullable PendingTransfer complete(int low) {
        acquirePosted();
        var transfer = underWay.remove(low);
        if (transfer != null) {
            releaseOne();
        }
        return transfer;
    }

    @Override
    public Collection<PendingTransfer> underWay() {
        return underWay.values();
    }
}
