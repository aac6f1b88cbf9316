package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/** A prepared read of remote memory. In C: {@code IBV_WR_RDMA_READ}, {@code ibv_wr_rdma_read}. */
public final class PreparedRead extends PreparedSendRequest.RemoteTransfer<PreparedRead> {

    PreparedRead(
            PostTarget<PolledWorkQueueSlots> post, List<MemorySlice> slices, RemoteMemory remote) {
        super(post, Operation.READ, slices, remote);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "READ of %,d bytes from %s", length(), memory());
    }
}
