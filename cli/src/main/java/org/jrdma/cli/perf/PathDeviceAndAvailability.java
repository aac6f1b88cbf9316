package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * The fabric and device of a path.
 *
 * @param fabric the fabric; empty for sockets, which select a transport themselves
 * @param device the name of the RDMA device; empty if the path uses none
 * @param missing the reason why the path is unavailable; empty if it is available
 * @param localOnly the reason why the path cannot reach other machines; empty if it can reach them
 */
record PathDeviceAndAvailability(
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        Optional<String> missing,
        Optional<String> localOnly) {

    /**
     * Returns a copy for a peer on another machine, which may be unavailable because of {@code
     * localOnly}.
     */
    PathDeviceAndAvailability toRemotePeer() {
        return new PathDeviceAndAvailability(
                fabric, device, missing.or(() -> localOnly), localOnly);
    }

    /**
     * Returns the device of a path over sockets, which reach any machine.
     *
     * @param missing the reason why the sockets are not available
     */
    static PathDeviceAndAvailability ofSockets(Optional<String> missing) {
        return new PathDeviceAndAvailability(
                Optional.empty(), Optional.empty(), missing, Optional.empty());
    }
}
