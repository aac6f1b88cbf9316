package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RemoteTarget;

/** A prepared read of remote memory. In C: {@code IBV_WR_RDMA_READ}, {@code ibv_wr_rdma_read}. */
public final class PreparedRead extends PreparedSendRequest<PreparedRead> {

    private final RemoteTarget target;

    PreparedRead(PostTarget<PolledWorkQueue> post, List<MemorySlice> slices, RemoteMemory remote) {
        super(post, Operation.READ);
        this.target = new RemoteTarget(request(), remote);
        local(slices);
    }

    /**
     * Selects an offset in the remote memory.
     *
     * @throws IndexOutOfBoundsException if the range is not within the remote memory
     */
    public PreparedRead remoteOffset(long bytes) {
        checkThread();
        target.moveTo(bytes, length());
        return this;
    }

    /**
     * Selects other local and remote memory, starting at the first byte of the remote memory. Does
     * not allocate.
     *
     * @throws IndexOutOfBoundsException if the remote memory is shorter
     */
    public PreparedRead buffers(MemorySlice slice, RemoteMemory memory) {
        checkThread();
        target.select(memory, slice.length());
        return local(slice);
    }

    /**
     * Selects other remote memory, starting at its first byte.
     *
     * @throws IndexOutOfBoundsException if the range is not within the remote memory
     */
    public PreparedRead remote(RemoteMemory memory) {
        checkThread();
        target.select(memory, length());
        return this;
    }

    @Override
    void checkLength(long bytes) {
        super.checkLength(bytes);
        target.checkLength(bytes);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "READ of %,d bytes from %s", length(), target.memory());
    }
}
