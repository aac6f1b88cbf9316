package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A prepared atomic write of 8 bytes to remote memory: readers see either the previous or the new
 * value. The request contains the value, so it has no local memory. In C: {@code
 * IBV_WR_ATOMIC_WRITE}, {@code ibv_wr_atomic_write}.
 */
public final class PreparedAtomicWrite extends PreparedSendRequest<PreparedAtomicWrite> {

    private final RemoteMemory remote;

    PreparedAtomicWrite(PostTarget<PolledWorkQueueSlots> post, RemoteMemory remote) {
        super(post, Operation.ATOMIC_WRITE);
        this.remote = remote;
        local(List.of());
        remoteOffset(0);
    }

    /** Sets the value to write, in native byte order; 0 by default. */
    public PreparedAtomicWrite value(long value) {
        checkThread();
        request().operands(value, 0);
        return this;
    }

    /**
     * Selects the offset of the 8 bytes in the remote memory; 0 by default.
     *
     * @throws IllegalArgumentException if the resulting address is not a multiple of 8
     */
    public PreparedAtomicWrite remoteOffset(long bytes) {
        checkThread();
        RequestWriter.atomic(request(), remote, bytes);
        return this;
    }

    @Override
    void checkSlices(int count, long bytes, boolean inPlace) {
        checkNoSlices(count);
    }

    @Override
    String describe() {
        return "ATOMIC_WRITE on " + remote;
    }
}
