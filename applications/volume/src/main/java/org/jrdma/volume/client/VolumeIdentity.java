package org.jrdma.volume.client;

import java.util.Optional;
import java.util.UUID;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Superblock;
import org.jspecify.annotations.Nullable;

/**
 * The identity of the volume that a client uses: that of the volume on its drive, or without a
 * drive that of its first coordinator. Not safe for use by multiple threads.
 */
final class VolumeIdentity {

    private @Nullable UUID id;

    VolumeIdentity(Optional<Drive> drive) throws FabricException {
        if (drive.isPresent()) {
            id = Superblock.read(drive.get()).id();
        }
    }

    /** Throws an exception if a coordinator serves another volume. */
    void check(UUID other) throws OtherVolumeException {
        if (id != null && !id.equals(other)) {
            throw new OtherVolumeException(id, other);
        }
        id = other;
    }
}
