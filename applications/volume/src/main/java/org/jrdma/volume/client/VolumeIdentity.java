package org.jrdma.volume.client;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.metadata.Superblock;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The identity of the volume that a client uses: that of the volume on its drive, or without a
 * drive that of its first coordinator.
 */
final class VolumeIdentity {

    private static final Logger LOG = LoggerFactory.getLogger(VolumeIdentity.class);

    private static final Duration RETRY_PAUSE = Duration.ofMillis(100);

    /** Written by one thread at a time. */
    private volatile @Nullable UUID id;

    /**
     * Reads the identity from the drive. Repeats a read that fails until the deadline, because the
     * lender of the drive may have ended and be about to start again.
     */
    VolumeIdentity(Optional<Drive> drive, Deadline deadline) throws FabricException {
        while (drive.isPresent() && id == null) {
            try {
                id = Superblock.read(drive.get()).id();
            } catch (FabricException e) {
                if (hasNoVolume(e) || deadline.hasPassed()) {
                    throw e;
                }
                LOG.info("Cannot read the superblock yet: {}", e.getMessage());
                pause();
            }
        }
    }

    private static boolean hasNoVolume(FabricException e) {
        return e instanceof VolumeException volume && volume.failure() == Failure.MALFORMED;
    }

    private static void pause() throws VolumeException {
        try {
            Thread.sleep(RETRY_PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new VolumeException("Interrupted while waiting for the drive", e);
        }
    }

    /**
     * Throws an exception if a coordinator serves another volume. Not safe for use by multiple
     * threads.
     */
    void check(UUID other) throws OtherVolumeException {
        var known = id;
        if (known != null && !known.equals(other)) {
            throw new OtherVolumeException(known, other);
        }
        id = other;
    }

    /**
     * Returns the identity.
     *
     * @throws NullPointerException if there is no drive, and no coordinator was checked
     */
    UUID id() {
        return Objects.requireNonNull(id);
    }
}
