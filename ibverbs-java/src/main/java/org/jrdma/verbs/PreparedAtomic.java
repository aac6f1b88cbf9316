package org.jrdma.verbs;

import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Changes 8 bytes of the peer's in one step, and brings the former value back, in this machine's
 * byte order.
 *
 * @param <S> the request itself
 */
public abstract sealed class PreparedAtomic<S extends PreparedAtomic<S>>
        extends PreparedSendRequest<S> permits PreparedCompareAndSwap, PreparedFetchAndAdd {

    private final RemoteMemory remote;

    PreparedAtomic(
            PolledEnd queuePair, Operation operation, MemorySlice result, RemoteMemory remote) {
        super(queuePair, operation);
        this.remote = remote;
        remoteOffset(0);
        local(result);
    }

    /**
     * Where the 8 bytes are within the peer's memory.
     *
     * @throws IllegalArgumentException if that is not at a multiple of 8
     */
    public final S remoteOffset(long bytes) {
        checkThread();
        RemoteBounds.checkAtomicTarget(bytes, remote);
        request().atomic(remote.address() + bytes, remote.key());
        return self();
    }

    @Override
    final void checkLength(long bytes) {
        RemoteBounds.checkAtomicResult(bytes);
    }

    @Override
    final String describe() {
        return "%s on %s".formatted(operation(), remote);
    }
}
