package org.jrdma.verbs;

import java.util.Collection;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The receives of a shared queue that are awaited. They complete in any order. */
final class AsyncSharedReceives extends AsyncWorkQueue {

    private final Sharing<AsyncWorkQueue> sharing = new Sharing<>(this);

    /** By the low half of their positions. */
    private final ConcurrentHashMap<Integer, Transfer> underWay = new ConcurrentHashMap<>();

    AsyncSharedReceives(int capacity) {
        super(capacity, 0, false);
    }

    Sharing<AsyncWorkQueue> sharing() {
        return sharing;
    }

    @Override
    boolean isOfDatagrams(int queuePairNumber) {
        return sharing.isOfDatagrams(queuePairNumber);
    }

    @Override
    void remember(long position, Transfer transfer) {
        underWay.put((int) position, transfer);
    }

    @Override
    void forget(long position) {
        underWay.remove((int) position);
    }

    @Override
    @Nullable Transfer complete(int low) {
        acquirePosted();
        var transfer = underWay.remove(low);
        if (transfer != null) {
            releaseOne();
        }
        return transfer;
    }

    @Override
    Collection<Transfer> underWay() {
        return underWay.values();
    }
}
