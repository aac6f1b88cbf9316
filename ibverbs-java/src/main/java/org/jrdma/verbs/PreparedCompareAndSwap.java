package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/**
 * Replaces 8 bytes of the peer's if they have a certain value, and brings the former value back, in
 * this machine's byte order. In C: {@code IBV_WR_ATOMIC_CMP_AND_SWP}, {@code
 * ibv_wr_atomic_cmp_swp}.
 */
public final class PreparedCompareAndSwap extends PreparedAtomic<PreparedCompareAndSwap> {

    PreparedCompareAndSwap(
            PolledPost<PolledWorkQueue> post, MemorySlice result, RemoteMemory remote) {
        super(post, Operation.COMPARE_AND_SWAP, result, remote);
    }

    /** What the bytes must be, and what they become. */
    public PreparedCompareAndSwap values(long expected, long replacement) {
        checkThread();
        request().operands(expected, replacement);
        return this;
    }
}
