package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;

/**
 * Replaces 8 bytes of the peer's if they have a certain value, and brings the former value back, in
 * this machine's byte order. In C: {@code IBV_WR_ATOMIC_CMP_AND_SWP}.
 */
public final class PreparedCompareAndSwap extends PreparedSendRequest<PreparedCompareAndSwap> {

    private final RemoteMemory remote;

    PreparedCompareAndSwap(PolledQueuePair queuePair, MemorySlice result, RemoteMemory remote) {
        super(queuePair, Operation.COMPARE_AND_SWAP);
        this.remote = remote;
        RemoteBounds.checkAtomicTarget(0, remote);
        local(result);
        request().atomic(remote.address(), remote.key());
    }

    /** What the bytes must be, and what they become. */
    public PreparedCompareAndSwap values(long expected, long replacement) {
        checkThread();
        request().operands(expected, replacement);
        return this;
    }

    /**
     * Where the 8 bytes are within the peer's memory.
     *
     * @throws IllegalArgumentException if that is not at a multiple of 8
     */
    public PreparedCompareAndSwap remoteOffset(long bytes) {
        checkThread();
        RemoteBounds.checkAtomicTarget(bytes, remote);
        request().atomic(remote.address() + bytes, remote.key());
        return this;
    }

    @Override
    void checkLocal(List<MemorySlice> pieces) {
        RemoteBounds.checkAtomicResult(pieces);
    }

    @Override
    PreparedCompareAndSwap self() {
        return this;
    }

    @Override
    String describe() {
        return "COMPARE_AND_SWAP on " + remote;
    }
}
