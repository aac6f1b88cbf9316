package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * What was measured of a path with messages of one size.
 *
 * @param fabric whether that was hardware; empty of sockets
 * @param device the RDMA device of this side; empty where there is none
 */
record Result(
        String path,
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        int bytes,
        Latency latency,
        Bandwidth bandwidth) {

    /** The path, and over what, so that nobody takes software for hardware. */
    String label() {
        return path
                + device.map(name -> " on " + name).orElse("")
                + (fabric.equals(Optional.of(Paths.Fabric.SOFTWARE)) ? ", software" : "");
    }
}
