package org.jrdma.volume.model;

import java.util.List;
import java.util.Optional;

/**
 * The status of a server, which it reports at one moment.
 *
 * @param name the name of the server
 * @param version the version of its software
 * @param epoch the epoch of the volume that the server coordinates; 0 for a standby
 * @param isServingBlocks true if the server accesses the drive for clients without a path to it
 * @param addresses the addresses of the server, the most preferred transport first
 * @param unavailable the selected transports that do not work, with the reasons
 * @param drive a description of its drive
 * @param driveBytes the size of its drive
 * @param use the use of the volume; empty for a standby
 */
public record ServerStatus(
        String name,
        String version,
        long epoch,
        boolean isServingBlocks,
        List<String> addresses,
        List<String> unavailable,
        String drive,
        long driveBytes,
        Optional<VolumeUse> use) {

    /** Copies the lists. */
    public ServerStatus {
        addresses = List.copyOf(addresses);
        unavailable = List.copyOf(unavailable);
    }

    /** Returns true if the server is the coordinator. */
    public boolean isCoordinator() {
        return epoch != 0;
    }
}
