package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Reads or writes the peer's memory.
 *
 * @param <S> the request itself
 */
public abstract sealed class PreparedRdma<S extends PreparedRdma<S>> extends PreparedSendRequest<S>
        permits PreparedRead, PreparedWrite {

    private RemoteMemory remote;
    private long offset;

    PreparedRdma(
            PolledEnd queuePair,
            Operation operation,
            List<MemorySlice> pieces,
            RemoteMemory remote) {
        super(queuePair, operation);
        this.remote = remote;
        local(pieces);
        request().remote(remote.address(), remote.key());
    }

    /**
     * Where to read or write within the peer's memory.
     *
     * @throws IndexOutOfBoundsException if that would go beyond it
     */
    public final S remoteOffset(long bytes) {
        checkThread();
        RemoteBounds.check(bytes, length(), remote);
        offset = bytes;
        request().remoteAddress(remote.address() + bytes);
        return self();
    }

    /**
     * Other memory on both sides, the peer's from its beginning. Allocates nothing.
     *
     * @throws IndexOutOfBoundsException if the peer's is shorter
     */
    public final S between(MemorySlice piece, RemoteMemory memory) {
        checkThread();
        RemoteBounds.check(0, piece.length(), memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return local(piece);
    }

    /**
     * Other memory of the peer's, read or written from its beginning.
     *
     * @throws IndexOutOfBoundsException if that would go beyond it
     */
    public final S remote(RemoteMemory memory) {
        checkThread();
        RemoteBounds.check(0, length(), memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return self();
    }

    @Override
    final void checkLength(long bytes) {
        super.checkLength(bytes);
        RemoteBounds.check(offset, bytes, remote);
    }

    final RemoteMemory remote() {
        return remote;
    }
}
