package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * Writes the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}, {@code IBV_WR_RDMA_WRITE_WITH_IMM};
 * {@code ibv_wr_rdma_write}, {@code ibv_wr_rdma_write_imm}.
 */
public final class PreparedWrite extends PreparedSendRequest<PreparedWrite> {

    private RemoteMemory remote;
    private long offset;

    PreparedWrite(PolledPost<PolledWorkQueue> post, List<MemorySlice> pieces, RemoteMemory remote) {
        super(post, Operation.WRITE);
        this.remote = remote;
        local(pieces);
        request().remote(remote.address(), remote.key());
    }

    /**
     * Where to read or write within the peer's memory.
     *
     * @throws IndexOutOfBoundsException if that would go beyond it
     */
    public PreparedWrite remoteOffset(long bytes) {
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
    public PreparedWrite between(MemorySlice piece, RemoteMemory memory) {
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
    public PreparedWrite remote(RemoteMemory memory) {
        checkThread();
        RequestWriter.checkRange(0, length(), memory);
        remote = memory;
        offset = 0;
        request().remote(memory.address(), memory.key());
        return this;
    }

    /**
     * Sends 32 bits along, which take up a receive of the peer's and are found in its completion:
     * the way to tell the peer that the data is there.
     */
    public PreparedWrite immediate(int data) {
        return immediate(Operation.WRITE_WITH_IMMEDIATE, data);
    }

    /**
     * Whether it wakes a peer that waits for solicited messages only; has a meaning with immediate
     * data. In C: {@code IBV_SEND_SOLICITED}.
     */
    public PreparedWrite solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Whether the data is copied during the post, so that its memory is free at once. In C: {@code
     * IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if it is more than {@link QueuePair#inlineBytes()}
     */
    public PreparedWrite inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    void checkLength(long bytes) {
        super.checkLength(bytes);
        RequestWriter.checkRange(offset, bytes, remote);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "WRITE of %,d bytes to %s", length(), remote);
    }
}
