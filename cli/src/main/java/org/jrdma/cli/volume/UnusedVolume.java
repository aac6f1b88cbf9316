package org.jrdma.cli.volume;

import java.io.IOException;
import java.time.Duration;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
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

    private static boolean isInUse(Drive drive) throws IOException, InterruptedException {
        try {
            return VolumeServer.isInUse(drive, MAX_RENEWAL_TIME);
        } catch (VolumeException _) { // a damaged volume is not in use
            return false;
        }
    }
}
