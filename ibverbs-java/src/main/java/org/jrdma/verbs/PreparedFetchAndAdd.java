package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/**
 * Adds to 8 bytes of the peer's, and brings the former value back, in this machine's byte order. In
 * C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}, {@code ibv_wr_atomic_fetch_add}.
 */
public final class PreparedFetchAndAdd extends PreparedAtomic<PreparedFetchAndAdd> {

    PreparedFetchAndAdd(PolledPost<PolledWorkQueue> post, MemorySlice result, RemoteMemory remote) {
        super(post, Operation.FETCH_AND_ADD, result, remote);
    }

    /** What is added. */
    public PreparedFetchAndAdd delta(long value) {
        checkThread();
        request().operands(value, 0);
        return this;
    }
}
