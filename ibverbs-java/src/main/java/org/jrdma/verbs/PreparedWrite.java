package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RemoteTarget;

/**
 * Writes to remote memory. In C: {@code IBV_WR_RDMA_WRITE}, {@code IBV_WR_RDMA_WRITE_WITH_IMM};
 * {@code ibv_wr_rdma_write}, {@code ibv_wr_rdma_write_imm}.
 */
public final class PreparedWrite extends PreparedSendRequest<PreparedWrite> {

    private final RemoteTarget target;

    PreparedWrite(PolledPost<PolledWorkQueue> post, List<MemorySlice> pieces, RemoteMemory remote) {
        super(post, Operation.WRITE);
        this.target = new RemoteTarget(request(), remote);
        local(pieces);
    }

    /**
     * Moves to an offset in the remote memory.
     *
     * @throws IndexOutOfBoundsException if the range is not within the remote memory
     */
    public PreparedWrite remoteOffset(long bytes) {
        checkThread();
        target.moveTo(bytes, length());
        return this;
    }

    /**
     * Selects other memory on both sides, the remote memory from its first byte. Allocates nothing.
     *
     * @throws IndexOutOfBoundsException if the remote memory is shorter
     */
    public PreparedWrite between(MemorySlice piece, RemoteMemory memory) {
        checkThread();
        target.select(memory, piece.length());
        return local(piece);
    }

    /**
     * Selects other remote memory, from its first byte.
     *
     * @throws IndexOutOfBoundsException if the range is not within the remote memory
     */
    public PreparedWrite remote(RemoteMemory memory) {
        checkThread();
        target.select(memory, length());
        return this;
    }

    /**
     * Adds 32 bits of immediate data, which consume a receive request of the peer and are part of
     * its completion: the way to notify the peer that the data has arrived.
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
        target.checkLength(bytes);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "WRITE of %,d bytes to %s", length(), target.memory());
    }
}
