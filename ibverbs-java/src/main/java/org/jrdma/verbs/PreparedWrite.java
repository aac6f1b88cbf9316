package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * Writes the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}, {@code IBV_WR_RDMA_WRITE_WITH_IMM};
 * {@code ibv_wr_rdma_write}, {@code ibv_wr_rdma_write_imm}.
 */
public final class PreparedWrite extends PreparedRdma<PreparedWrite> {

    PreparedWrite(PolledEnd queuePair, List<MemorySlice> pieces, RemoteMemory remote) {
        super(queuePair, Operation.WRITE, pieces, remote);
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
    String describe() {
        return String.format(Locale.ROOT, "WRITE of %,d bytes to %s", length(), remote());
    }
}
