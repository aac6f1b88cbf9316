package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.RemoteMemory;

/** Reads the peer's memory. In C: {@code IBV_WR_RDMA_READ}, {@code ibv_wr_rdma_read}. */
public final class PreparedRead extends PreparedRdma<PreparedRead> {

    PreparedRead(PolledEnd queuePair, List<MemorySlice> pieces, RemoteMemory remote) {
        super(queuePair, Operation.READ, pieces, remote);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "READ of %,d bytes from %s", length(), remote());
    }
}
