package org.jrdma.volume.drive;

import java.util.List;
import org.jrdma.ffi.FabricException;

/** A drive that consists of several drives, which it owns. */
abstract sealed class DriveGroup implements Drive permits StripedDrive, MirroredDrive {

    final List<Drive> drives;

    /**
     * @throws IllegalArgumentException if there is no drive
     */
    DriveGroup(List<Drive> drives) {
        if (drives.isEmpty()) {
            throw new IllegalArgumentException("There is no drive");
        }
        this.drives = List.copyOf(drives);
    }

    /** Returns the number of blocks of the smallest drive. */
    final long smallest() {
        return drives.stream().mapToLong(Drive::blocks).min().orElseThrow();
    }

    @Override
    public final void flush() throws FabricException {
        for (var drive : drives) {
            drive.flush();
        }
    }

    @Override
    public final Fence fence() {
        return Fence.ofAll(drives);
    }

    @Override
    public final void close() {
        drives.forEach(Drive::close);
    }
}
