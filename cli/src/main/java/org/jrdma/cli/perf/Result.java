package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * What was measured of a path with messages of one size.
 *
 * @param fabric whether that was hardware; empty of sockets that choose for themselves
 * @param device the RDMA device of this side; empty where there is none
 * @param taken as {@link Link#taken()} has it
 */
record Result(
        String path,
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        int bytes,
        Latency latency,
        Bandwidth bandwidth,
        Optional<String> taken) {

    /** The path, and over what, so that nobody takes software for hardware. */
    String label() {
        return path
                + device.map(name -> " on " + name).orElse("")
                + (fabric.equals(Optional.of(Paths.Fabric.SOFTWARE)) ? ", software" : "");
    }
}
