package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.roce.engine.ReceiveQueue;

/** Takes chains of {@code ibv_recv_wr} into a receive queue. Safe for use by several threads. */
final class ReceiveRequests {

    private static final long NUMBER = ibv_recv_wr.wr_id$offset();
    private static final long NEXT = ibv_recv_wr.next$offset();
    private static final long LIST = ibv_recv_wr.sg_list$offset();
    private static final long COUNT = ibv_recv_wr.num_sge$offset();

    private final ReceiveQueue queue;
    private final int maxElements;

    ReceiveRequests(ReceiveQueue queue, int maxElements) {
        this.queue = queue;
        this.maxElements = maxElements;
    }

    /** Returns the errno; the address of the first that was not taken is left in {@code failed}. */
    synchronized int post(long first, long failed) {
        for (var request = first; request != 0; request = AddressSpace.getLong(request + NEXT)) {
            var errno = take(request);
            if (errno != 0) {
                AddressSpace.setLong(failed, request);
                return errno;
            }
        }
        return 0;
    }

    /** Runs an action that no post comes between. */
    synchronized void whileNonePosts(Runnable action) {
        action.run();
    }

    private int take(long request) {
        var count = AddressSpace.getInt(request + COUNT);
        if (count < 0 || count > maxElements) {
            return Errno.EINVAL;
        }
        var work = queue.claim();
        if (work == null) {
            return Errno.ENOMEM;
        }
        var list = AddressSpace.getLong(request + LIST);
        work.begin(AddressSpace.getLong(request + NUMBER));
        for (var i = 0; i < count; i++) {
            work.buffer(
                    ScatterGatherList.address(list, i),
                    ScatterGatherList.length(list, i),
                    ScatterGatherList.key(list, i));
        }
        queue.post();
        return 0;
    }
}
