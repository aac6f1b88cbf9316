package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;

/**
 * A message, which takes up a receive of the peer's. In C: {@code IBV_WR_SEND}, {@code
 * IBV_WR_SEND_WITH_IMM}; {@code ibv_wr_send}, {@code ibv_wr_send_imm}.
 */
public final class PreparedSend extends PreparedSendRequest<PreparedSend> {

    PreparedSend(PolledQueuePair queuePair, List<MemorySlice> pieces) {
        super(queuePair, Operation.SEND);
        local(pieces);
    }

    /** Sends 32 bits along, which the peer finds in its completion. */
    public PreparedSend immediate(int data) {
        return immediate(Operation.SEND_WITH_IMMEDIATE, data);
    }

    /**
     * Whether it wakes a peer that waits for solicited messages only. In C: {@code
     * IBV_SEND_SOLICITED}.
     */
    public PreparedSend solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Whether the data is copied during the post, so that its memory is free at once. In C: {@code
     * IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if it is more than {@link QueuePair#inlineBytes()}
     */
    public PreparedSend inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    String describe() {
        return "SEND of %,d bytes".formatted(length());
    }
}
