package org.jrdma.volume.drive;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.BufferInUseException;
import org.jspecify.annotations.Nullable;

/**
 * Several drives with the same content.
 *
 * <p>A write succeeds if it succeeds on all drives: other nodes may read from any of them. A read
 * uses the first drive, and the others if it fails. To write after the permanent loss of a drive,
 * open the volume on the remaining drives on all nodes. A write that failed can be present on some
 * drives only, until the block is written again.
 *
 * <p>Owns the drives. A call takes as long as the sum of the calls of the drives.
 */
public final class MirroredDrive extends DriveGroup {

    /**
     * Combines drives, in the same order on all nodes. The smallest drive determines the size.
     *
     * @throws IllegalArgumentException if there is no drive
     */
    public MirroredDrive(List<Drive> drives) {
        super(drives);
    }

    @Override
    public long blocks() {
        return smallest();
    }

    @Override
    public void read(long block, MemorySegment target) throws FabricException {
        Drive.checkRange(this, block, target);
        @Nullable FabricException failure = null;
        for (var drive : drives) {
            try {
                drive.read(block, target);
                return;
            } catch (BufferInUseException e) {
                throw e;
            } catch (FabricException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        throw java.util.Objects.requireNonNull(failure);
    }

    @Override
    public void write(long block, MemorySegment source) throws FabricException {
        Drive.checkRange(this, block, source);
        for (var drive : drives) {
            drive.write(block, source);
        }
    }

    @Override
    public String toString() {
        return "mirror of " + drives;
    }
}
