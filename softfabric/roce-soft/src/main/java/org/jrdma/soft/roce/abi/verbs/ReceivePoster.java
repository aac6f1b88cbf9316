package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.roce.engine.ReceiveQueue;

/**
 * Posts chains of {@code ibv_recv_wr} to a receive queue or a shared receive queue. Safe for use by
 * multiple threads.
 */
final class ReceivePoster {

    private static final long NUMBER = ibv_recv_wr.wr_id$offset();
    private static final long NEXT = ibv_recv_wr.next$offset();
    private static final long LIST = ibv_recv_wr.sg_list$offset();
    private static final long COUNT = ibv_recv_wr.num_sge$offset();

    private final ReceiveQueue queue;
    private final int maxElements;

    ReceivePoster(ReceiveQueue queue, int maxElements) {
        this.queue = queue;
        this.maxElements = maxElements;
    }

    /**
     * Posts a chain of {@code ibv_recv_wr}. Returns 0, or the errno of the first request that
     * failed. The requests before it are posted.
     *
     * @param first the address of the first request
     * @param failed the address where this method stores the address of the request that failed
     */
    synchronized int post(long first, long failed) {
        for (var request = first; request != 0; request = UncheckedMemory.getLong(request + NEXT)) {
            var errno = postOne(request);
            if (errno != 0) {
                UncheckedMemory.setLong(failed, request);
                return errno;
            }
        }
        return 0;
    }

    /** Runs an action while no other thread can post receive requests with this object. */
    synchronized void runExclusively(Runnable action) {
        action.run();
    }

    private int postOne(long request) {
        var count = UncheckedMemory.getInt(request + COUNT);
        if (count < 0 || count > maxElements) {
            return Errno.EINVAL;
        }
        var work = queue.claim();
        if (work == null) {
            return Errno.ENOMEM;
        }
        var list = UncheckedMemory.getLong(request + LIST);
        work.begin(UncheckedMemory.getLong(request + NUMBER));
        for (var i = 0; i < count; i++) {
            work.buffer(
                    ScatterGatherListReader.address(list, i),
                    ScatterGatherListReader.length(list, i),
                    ScatterGatherListReader.key(list, i));
        }
        queue.post();
        return 0;
    }
}
