package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;

/**
 * A place to receive a message into; or, with no bytes, to hear of a write with immediate data. In
 * C: {@code struct ibv_recv_wr}.
 */
public final class PreparedReceive extends PreparedRequest<PreparedReceive> {

    PreparedReceive(PolledEnd queuePair, List<MemorySlice> pieces) {
        super(
                queuePair,
                queuePair.receivesOfThisThread(),
                new WorkRequest.Receive(queuePair.receiveElements()));
        local(pieces);
    }

    @Override
    void checkLocal(List<MemorySlice> pieces) {
        // any suit
    }

    @Override
    void checkState() throws VerbsException {
        if (!queuePair().takesReceives()) {
            throw queuePair().wrongState("ibv_post_recv", "receives are taken from INIT on");
        }
    }

    @Override
    int call(HotPath hotPath, long queuePairAddress, WorkRequest first) {
        return hotPath.postReceive(queuePairAddress, first.address(), first.refusedAddress());
    }

    @Override
    String function() {
        return "ibv_post_recv";
    }

    @Override
    String describe() {
        return "RECEIVE";
    }
}
