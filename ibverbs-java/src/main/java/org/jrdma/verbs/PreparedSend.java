package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared send of a message. The message consumes a receive request of the peer. In C: {@code
 * IBV_WR_SEND}, {@code IBV_WR_SEND_WITH_IMM}, {@code IBV_WR_SEND_WITH_INV}; {@code ibv_wr_send},
 * {@code ibv_wr_send_imm}.
 */
public final class PreparedSend extends PreparedSendRequest<PreparedSend> {

    PreparedSend(PostTarget<PolledWorkQueueSlots> post, List<MemorySlice> slices) {
        super(post, Operation.SEND);
        local(slices);
    }

    /** Adds 32 bits of immediate data, which the completion at the peer contains. */
    public PreparedSend immediate(int data) {
        return immediate(Operation.SEND_WITH_IMMEDIATE, data);
    }

    /**
     * Invalidates a memory window of the peer when the message arrives. The window must be of type
     * 2 and bound by the queue pair that receives the message; otherwise the receive fails with
     * {@link CompletionStatus#REMOTE_INVALID_REQUEST}. Reads in flight through the window may fail
     * unless this request is {@linkplain #fenced fenced}. In C: {@code IBV_WR_SEND_WITH_INV},
     * {@code ibv_wr_send_inv}.
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
     * Selects whether the message wakes up a peer that waits only for solicited messages. In C:
     * {@code IBV_SEND_SOLICITED}.
     */
    public PreparedSend solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Selects whether the post copies the data, so that its memory can be reused immediately. In C:
     * {@code IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if the data is longer than {@link QueuePair#inlineBytes()}
     */
    public PreparedSend inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "SEND of %,d bytes", length());
    }
}
