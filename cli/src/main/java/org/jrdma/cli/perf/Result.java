package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * The latency and bandwidth of a path for one message size.
 *
 * @param fabric the fabric; empty for sockets, which select their transport
 * @param device the local RDMA device; empty if the path uses none
 * @param connection see {@link Link#connection()}
 */
record Result(
        String path,
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        int bytes,
        Latency latency,
        Bandwidth bandwidth,
        Optional<String> connection) {

    /** Returns the path, the device, and a mark of the software fabric. */
    String label() {
        return path
                + device.map(name -> " on " + name).orElse("")
                + (fabric.equals(Optional.of(Paths.Fabric.SOFTWARE)) ? ", software" : "");
    }
}
