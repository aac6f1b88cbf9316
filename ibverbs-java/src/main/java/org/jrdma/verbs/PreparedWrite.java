package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;

/**
 * Writes the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}, {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
 */
public final class PreparedWrite extends PreparedSendRequest<PreparedWrite> {

    private RemoteMemory remote;
    private long offset;
    private long length;

    PreparedWrite(PolledQueuePair queuePair, List<MemorySlice> pieces, RemoteMemory remote) {
        super(queuePair, Operation.WRITE);
        this.remote = remote;
        local(pieces);
        request().remote(remote.address(), remote.key());
    }

    /**
     * Where to write within the peer's memory.
     *
     * @throws IndexOutOfBoundsException if the data would go beyond it
     */
    public PreparedWrite remoteOffset(long bytes) {
        checkThread();
        RemoteBounds.check(bytes, length, remote);
        offset = bytes;
        request().remoteAddress(remote.address() + bytes);
        return this;
    }

    /**
     * Other memory of the peer's, written from its beginning.
     *
     * @throws IndexOutOfBoundsException if the data would go beyond it
     */
    public PreparedWrite remote(RemoteMemory memory) {
        checkThread();
        RemoteBounds.check(0, length, memory);
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
        checkThread();
        request().operation(Operation.WRITE_WITH_IMMEDIATE);
        request().immediate(data);
        return this;
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
        flag(Send.INLINE, wanted);
        checkInline(length);
        return this;
    }

    @Override
    void checkLocal(List<MemorySlice> pieces) {
        super.checkLocal(pieces);
        var total = totalLength(pieces);
        RemoteBounds.check(offset, total, remote);
        length = total;
    }

    @Override
    PreparedWrite self() {
        return this;
    }

    @Override
    String describe() {
        return "WRITE of %,d bytes to %s".formatted(length, remote);
    }
}
