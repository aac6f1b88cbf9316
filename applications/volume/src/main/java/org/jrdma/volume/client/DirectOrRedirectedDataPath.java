package org.jrdma.volume.client;

import java.util.List;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.ConnectionDescription;

/** A path from this node to the blocks of the volume. */
sealed interface DirectOrRedirectedDataPath {

    /** Returns the drive that this path uses. */
    Drive drive();

    /** Direct I/O: this node accesses the drive itself. */
    record Direct(Drive drive) implements DirectOrRedirectedDataPath {
        @Override
        public String toString() {
            return "direct";
        }
    }

    /** Block redirection: another node accesses the drive. */
    record Redirected(RedirectedDrive drive, List<String> server)
            implements DirectOrRedirectedDataPath {

        /** Returns the current state of the connection. */
        ConnectionDescription connection() {
            return drive.describe(server);
        }

        @Override
        public String toString() {
            return "redirected to %s, %s".formatted(server, drive);
        }
    }
}
