package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/** Reads the peer's memory. In C: {@code IBV_WR_RDMA_READ}, {@code ibv_wr_rdma_read}. */
public final class PreparedRead extends PreparedSendRequest<PreparedRead> {

    private RemoteMemory remote;
    private long offset;

    PreparedRead(PolledPost<PolledWorkQueue> post, List<MemorySlice> pieces, RemoteMemory remote) {
        super(post, Operation.READ);
        this.remote = remote;
        local(pieces);
        request().remote(remote.address(), remote.key());
    }

    /**
     * Where to read or write within the peer's memory.
     *
     * @throws IndexOutOfBoundsException if that would go beyond it
     */
    public PreparedRead remoteOffset(long bytes) {
        checkThread();
        RequestWriter.checkRange(bytes, length(), remote);
        offset = bytes;
        request().remoteAddress(remote.address() + bytes);
        return this;
    }

    /**
     * Other memory on both sides, the peer's from its beginning. Allocates nothing.
     *
     * @throws IndexOutOfBoundsException if the peer's is shorter
     */
    public PreparedRead between(MemorySlice piece, RemoteMemory memory) {
        checkThread();
        RequestWriter.checkRange(0, piece.length(), memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return local(piece);
    }

    /**
     * Selects other remote memory, from its first byte.
     *
     * @throws IndexOutOfBoundsException if that would go beyond it
     */
    public PreparedRead remote(RemoteMemory memory) {
        checkThread();
        RequestWriter.checkRange(0, length(), memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return this;
    }

    @Override
    void checkLength(long bytes) {
        super.checkLength(bytes);
        RequestWriter.checkRange(offset, bytes, remote);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "READ of %,d bytes from %s", length(), remote);
    }
}
