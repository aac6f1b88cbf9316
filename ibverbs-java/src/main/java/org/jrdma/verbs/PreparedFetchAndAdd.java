package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;

/**
 * Adds to 8 bytes of the peer's, and brings the former value back, in this machine's byte order. In
 * C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}.
 */
public final class PreparedFetchAndAdd extends PreparedSendRequest<PreparedFetchAndAdd> {

    private final RemoteMemory remote;

    PreparedFetchAndAdd(PolledQueuePair queuePair, MemorySlice result, RemoteMemory remote) {
        super(queuePair, Operation.FETCH_AND_ADD);
        this.remote = remote;
        RemoteBounds.checkAtomicTarget(0, remote);
        local(result);
        request().atomic(remote.address(), remote.key());
    }

    /** What is added. */
    public PreparedFetchAndAdd delta(long value) {
        checkThread();
        request().operands(value, 0);
        return this;
    }

    /**
     * Where the 8 bytes are within the peer's memory.
     *
     * @throws IllegalArgumentException if that is not at a multiple of 8
     */
    public PreparedFetchAndAdd remoteOffset(long bytes) {
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
    PreparedFetchAndAdd self() {
        return this;
    }

    @Override
    String describe() {
        return "FETCH_AND_ADD on " + remote;
    }
}
