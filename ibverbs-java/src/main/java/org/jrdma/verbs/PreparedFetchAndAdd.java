package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared fetch-and-add on 8 bytes of remote memory. The operation stores the previous value of
 * these bytes in local memory, in native byte order. In C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD},
 * {@code ibv_wr_atomic_fetch_add}.
 */
public final class PreparedFetchAndAdd extends PreparedAtomic<PreparedFetchAndAdd> {

    PreparedFetchAndAdd(
            PostTarget<PolledWorkQueueSlots> post, MemorySlice result, RemoteMemory remote) {
        super(post, Operation.FETCH_AND_ADD, result, remote);
    }

    /** Sets the value to add; 0 by default. */
    public PreparedFetchAndAdd delta(long value) {
        checkThread();
        request().operands(value, 0);
        return this;
    }
}
