package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * Writes 8 bytes of the peer's memory in one step: whoever reads them there sees the former value
 * or the new one. Needs no memory of this side's. In C: {@code IBV_WR_ATOMIC_WRITE}, {@code
 * ibv_wr_atomic_write}.
 */
public final class PreparedAtomicWrite extends PreparedSendRequest<PreparedAtomicWrite> {

    private final RemoteMemory remote;

    PreparedAtomicWrite(PolledPost<PolledWorkQueue> post, RemoteMemory remote) {
        super(post, Operation.ATOMIC_WRITE);
        this.remote = remote;
        local(List.of());
        remoteOffset(0);
    }

    /** What is written, in this machine's byte order; 0 from the start. */
    public PreparedAtomicWrite value(long value) {
        checkThread();
        request().operands(value, 0);
        return this;
    }

    /**
     * Where the 8 bytes are within the peer's memory.
     *
     * @throws IllegalArgumentException if that is not at a multiple of 8
     */
    public PreparedAtomicWrite remoteOffset(long bytes) {
        checkThread();
        RequestWriter.atomic(request(), remote, bytes);
        return this;
    }

    @Override
    void checkPieces(int count, long bytes, boolean inPlace) {
        checkNoPieces(count);
    }

    @Override
    String describe() {
        return "ATOMIC_WRITE on " + remote;
    }
}
