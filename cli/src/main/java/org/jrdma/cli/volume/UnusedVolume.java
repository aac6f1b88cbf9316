package org.jrdma.cli.volume;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.drive.MirroredDrive;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** Makes sure that no server uses a volume. */
final class UnusedVolume {

    /** The time in which a coordinator with a lease of up to 50 s renews it. */
    private static final Duration MAX_RENEWAL_TIME = Duration.ofSeconds(5);

    private UnusedVolume() {}

    /**
     * Throws an exception if a server uses the volume on a drive. Waits for up to {@link
     * #MAX_RENEWAL_TIME} if the last coordinator was killed.
     */
    static void require(Drive drive, DriveName name) throws IOException, InterruptedException {
        if (isInUse(drive)) {
            throw new IOException(
                    "A server uses the volume in %s. Stop all servers first.".formatted(name));
        }
    }

    /**
     * Throws an exception if a server uses a drive alone or as a part of a mirror. Other drives of
     * the mirror are not necessary.
     */
    static void requireOn(DriveName name) throws IOException, InterruptedException {
        try (var drive = name.open()) {
            require(drive, name);
            requireInGroup(() -> MirroredDrive.openIncomplete(List.of(drive)), name);
        }
    }

    /** Throws an exception if drives are stripes of a volume that a server uses. */
    static void requireOnStripes(DriveName name) throws IOException, InterruptedException {
        requireInGroup(name::open, name);
    }

    @FunctionalInterface
    private interface Opener {
        Drive open() throws FabricException;
    }

    private static void requireInGroup(Opener opener, DriveName name)
            throws IOException, InterruptedException {
        try (var group = opener.open()) {
            require(group, name);
        } catch (VolumeException e) {
            requireMalformed(e); // the drives are not such a group
        }
    }

    private static boolean isInUse(Drive drive) throws IOException, InterruptedException {
        try {
            return VolumeServer.isInUse(drive, MAX_RENEWAL_TIME);
        } catch (VolumeException e) {
            requireMalformed(e); // a drive without a volume, or with a damaged one, is not in use
            return false;
        }
    }

    private static void requireMalformed(VolumeException failure) throws VolumeException {
        if (failure.failure() != Failure.MALFORMED) {
            throw failure;
        }
    }
}
