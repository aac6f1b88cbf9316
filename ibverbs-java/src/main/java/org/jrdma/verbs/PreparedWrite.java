package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared write to remote memory. In C: {@code IBV_WR_RDMA_WRITE}, {@code
 * IBV_WR_RDMA_WRITE_WITH_IMM}; {@code ibv_wr_rdma_write}, {@code ibv_wr_rdma_write_imm}.
 */
public final class PreparedWrite extends PreparedSendRequest.RemoteTransfer<PreparedWrite> {

    PreparedWrite(
            PostTarget<PolledWorkQueueSlots> post, List<MemorySlice> slices, RemoteMemory remote) {
        super(post, Operation.WRITE, slices, remote);
    }

    /**
     * Adds 32 bits of immediate data. The write then consumes a receive request of the peer. The
     * completion of that receive request contains the immediate data and notifies the peer that the
     * written data has arrived.
     */
    public PreparedWrite immediate(int data) {
        return immediate(Operation.WRITE_WITH_IMMEDIATE, data);
    }

    /**
     * Selects whether the request wakes up a peer that waits only for solicited messages. Has an
     * effect only with immediate data. In C: {@code IBV_SEND_SOLICITED}.
     */
    public PreparedWrite solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Selects whether the post copies the data, so that its memory can be reused immediately. In C:
     * {@code IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if the data is longer than {@link QueuePair#inlineBytes()}
     */
    public PreparedWrite inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "WRITE of %,d bytes to %s", length(), memory());
    }
}
