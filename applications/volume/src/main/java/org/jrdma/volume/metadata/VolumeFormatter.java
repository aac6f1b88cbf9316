package org.jrdma.volume.metadata;

import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.CoordinatorLease;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.VolumeException;

/** Formats drives: creates empty volumes on them. */
public final class VolumeFormatter {

    private VolumeFormatter() {}

    /**
     * Creates an empty volume. A volume that the drive contains is lost. No node may use it.
     *
     * @throws VolumeException if the drive is too small
     * @throws FabricException if the drive fails
     */
    public static Superblock create(Drive drive) throws FabricException {
        var superblock = Superblock.forDrive(drive);
        Journal.create(drive, superblock, new Namespace(superblock.data(), Attributes.now()));
        new CoordinatorLease(drive, superblock.leaseBlock()).format();
        superblock.write(drive);
        return superblock;
    }
}
