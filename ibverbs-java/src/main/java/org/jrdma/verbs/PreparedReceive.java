package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A place to receive a message into; or, with no bytes, to hear of a write with immediate data. In
 * C: {@code struct ibv_recv_wr}.
 */
public final class PreparedReceive extends PreparedRequest<PreparedReceive> {

    /** Null for a shared queue's. */
    private final @Nullable PolledTwoWayEnd queuePair;

    PreparedReceive(PolledTwoWayEnd queuePair, List<MemorySlice> pieces) {
        super(
                queuePair,
                queuePair.ownLifetime(),
                queuePair.hotPath(),
                queuePair.nativeAddress(),
                queuePair.receivesOfThisThread(),
                new WorkRequest.Receive(queuePair.receiveElements()));
        this.queuePair = queuePair;
        local(pieces);
    }

    PreparedReceive(PolledSharedReceiveQueue sharedQueue, List<MemorySlice> pieces) {
        super(
                sharedQueue,
                sharedQueue.ownLifetime(),
                sharedQueue.domain().device().hotPath(),
                sharedQueue.nativeAddress(),
                sharedQueue.receivesOfThisThread(),
                new WorkRequest.Receive(sharedQueue.elements()));
        this.queuePair = null;
        local(pieces);
    }

    @Override
    void checkPieces(int count, long bytes, boolean inPlace) {
        // any suit
    }

    @Override
    void checkState() throws VerbsException {
        if (queuePair != null && !queuePair.takesReceives()) {
            throw queuePair.wrongState(
                    function(),
                    "receives are taken from INIT on, where connect or activate brings it");
        }
    }

    @Override
    int call(HotPath hotPath, long targetAddress, WorkRequest first) {
        return queuePair == null
                ? hotPath.postSharedReceive(targetAddress, first.address(), first.refusedAddress())
                : hotPath.postReceive(targetAddress, first.address(), first.refusedAddress());
    }

    /** In C {@code ibv_post_recv}, or {@code ibv_post_srq_recv}. */
    @Override
    String function() {
        return queuePair == null ? "ibv_post_srq_recv" : "ibv_post_recv";
    }

    @Override
    String describe() {
        return "RECEIVE";
    }
}
