package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * What a path goes over.
 *
 * @param fabric whether that is hardware; empty of sockets, which choose for themselves
 * @param device the name of the RDMA device; empty where there is none
 * @param missing why this machine has none; empty if it has
 * @param endsHere why it does not lead to another machine; empty if it does
 */
record Provider(
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        Optional<String> missing,
        Optional<String> endsHere) {

    /** The same, where the other side is on another machine. */
    Provider towardsAnotherMachine() {
        return new Provider(fabric, device, missing.or(() -> endsHere), endsHere);
    }

    /** Sockets of a transport, which lead anywhere. */
    static Provider ofSockets(Optional<String> missing) {
        return new Provider(Optional.empty(), Optional.empty(), missing, Optional.empty());
    }
}
