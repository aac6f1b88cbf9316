package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.PostTarget;
import org.jspecify.annotations.Nullable;

/**
 * A prepared receive request. It receives one message, or, if it has no memory, the notification of
 * one write with immediate data. In C: {@code struct ibv_recv_wr}.
 */
public final class PreparedReceive extends PreparedRequest<PreparedReceive> {

    /**
     * The queue pair whose receive queue the request is posted to; null for a shared receive queue.
     */
    private final @Nullable NativeQueuePair queuePair;

    PreparedReceive(PostTarget<?> post, List<MemorySlice> slices) {
        super(post, new WorkRequest.Receive(post.maxElements()));
        this.queuePair = post.queuePair();
        local(slices);
    }

    @Override
    void checkSlices(int count, long bytes, boolean inPlace) {
        // Receive requests accept any slices.
    }

    @Override
    void checkState() throws VerbsException {
        if (queuePair != null) {
            queuePair.checkCanReceive("ibv_post_recv");
        }
    }

    @Override
    int call(PostAndPollFunctions hotPath, long targetAddress, WorkRequest first) {
        return queuePair == null
                ? hotPath.postSharedReceive(targetAddress, first.address(), first.refusedAddress())
                : hotPath.postReceive(targetAddress, first.address(), first.refusedAddress());
    }

    @Override
    String function() {
        return queuePair == null ? "ibv_post_srq_recv" : "ibv_post_recv";
    }

    @Override
    String describe() {
        return "RECEIVE";
    }
}
