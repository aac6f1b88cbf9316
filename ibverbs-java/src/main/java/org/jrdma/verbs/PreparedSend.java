package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/**
 * A message, which consumes a receive request of the peer. In C: {@code IBV_WR_SEND}, {@code
 * IBV_WR_SEND_WITH_IMM}, {@code IBV_WR_SEND_WITH_INV}; {@code ibv_wr_send}, {@code
 * ibv_wr_send_imm}.
 */
public final class PreparedSend extends PreparedSendRequest<PreparedSend> {

    PreparedSend(PolledPost<PolledWorkQueue> post, List<MemorySlice> pieces) {
        super(post, Operation.SEND);
        local(pieces);
    }

    /** Sends 32 bits along, which the peer finds in its completion. */
    public PreparedSend immediate(int data) {
        return immediate(Operation.SEND_WITH_IMMEDIATE, data);
    }

    /**
     * Takes a window of the peer's away when the message has arrived. It must be of type 2 and
     * bound by the queue pair that the message arrives at; otherwise that one's receive fails with
     * {@link CompletionStatus#REMOTE_INVALID_REQUEST}. Reads through it that are under way may
     * fail, unless this is {@linkplain #fenced fenced}. In C: {@code IBV_WR_SEND_WITH_INV}, {@code
     * ibv_wr_send_inv}.
     *
     * @throws UnsupportedOperationException if the connection is unreliable
     */
    public PreparedSend invalidating(RemoteMemory window) {
        queuePair().checkReliable(Operation.SEND_WITH_INVALIDATE);
        checkThread();
        request().operation(Operation.SEND_WITH_INVALIDATE);
        request().invalidatedKey(window.key());
        return this;
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
        return String.format(Locale.ROOT, "SEND of %,d bytes", length());
    }
}
