package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.NvmeException;
import org.jrdma.nvme.model.Status;
import org.jrdma.volume.drive.Drive;

/** The drive of a standby that another node has reserved, which refuses writes and flushes. */
final class ReservedDrive extends LocalCluster.CutDrive {

    ReservedDrive(Drive drive) {
        super(drive);
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        throw refusal();
    }

    @Override
    public void flush() throws FabricException {
        throw refusal();
    }

    private static NvmeException refusal() {
        return new NvmeException("access", "drive", Status.RESERVATION_CONFLICT.encode());
    }
}
