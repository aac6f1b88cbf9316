package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;

/** Reads the peer's memory. In C: {@code IBV_WR_RDMA_READ}. */
public final class PreparedRead extends PreparedSendRequest<PreparedRead> {

    private RemoteMemory remote;
    private long offset;
    private long length;

    PreparedRead(PolledQueuePair queuePair, List<MemorySlice> pieces, RemoteMemory remote) {
        super(queuePair, Operation.READ);
        this.remote = remote;
        local(pieces);
        request().remote(remote.address(), remote.key());
    }

    /**
     * Where to read within the peer's memory.
     *
     * @throws IndexOutOfBoundsException if there are not so many bytes
     */
    public PreparedRead remoteOffset(long bytes) {
        checkThread();
        RemoteBounds.check(bytes, length, remote);
        offset = bytes;
        request().remoteAddress(remote.address() + bytes);
        return this;
    }

    /**
     * Other memory of the peer's, read from its beginning.
     *
     * @throws IndexOutOfBoundsException if there are not so many bytes
     */
    public PreparedRead remote(RemoteMemory memory) {
        checkThread();
        RemoteBounds.check(0, length, memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return this;
    }

    @Override
    void checkLocal(List<MemorySlice> pieces) {
        var total = totalLength(pieces);
        RemoteBounds.check(offset, total, remote);
        length = total;
    }

    @Override
    PreparedRead self() {
        return this;
    }

    @Override
    String describe() {
        return "READ of %,d bytes from %s".formatted(length, remote);
    }
}
