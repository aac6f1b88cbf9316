package org.jrdma.volume.client;

import org.jrdma.volume.drive.Drive;

/** A path from this node to the blocks of the volume. */
sealed interface DataPath {

    /** Returns the drive that this path uses. */
    Drive drive();

    /** Direct I/O: this node accesses the drive itself. */
    record Direct(Drive drive) implements DataPath {
        @Override
        public String toString() {
            return "direct";
        }
    }

    /** Block redirection: another node accesses the drive. */
    record Redirected(Drive drive, String server) implements DataPath {
        @Override
        public String toString() {
            return "redirected to %s, %s".formatted(server, drive);
        }
    }
}
