package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared compare-and-swap of 8 bytes of remote memory. The operation stores the previous value
 * of these bytes in local memory, in native byte order. In C: {@code IBV_WR_ATOMIC_CMP_AND_SWP},
 * {@code ibv_wr_atomic_cmp_swp}.
 */
public final class PreparedCompareAndSwap extends PreparedAtomic<PreparedCompareAndSwap> {

    PreparedCompareAndSwap(
            PostTarget<PolledWorkQueueSlots> post, MemorySlice result, RemoteMemory remote) {
        super(post, Operation.COMPARE_AND_SWAP, result, remote);
    }

    /**
     * Sets the expected value and the replacement, in native byte order. The operation stores the
     * replacement if the remote memory contains the expected value. Both values are 0 by default.
     */
    public PreparedCompareAndSwap values(long expected, long replacement) {
        checkThread();
        request().operands(expected, replacement);
        return this;
    }
}
