package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * The latency and bandwidth of a path for one message size.
 *
 * @param fabric the fabric; empty for sockets, which select a transport themselves
 * @param device the local RDMA device; empty if the path uses none
 * @param machine the slower of the states before and after the pass with this latency
 * @param connection the description of the connection, as {@link LinkEnd#connection()} returns it
 */
record Result(
        String path,
        Optional<Paths.Fabric> fabric,
        Optional<String> device,
        int bytes,
        LatencyStatistics latency,
        MeasuredBandwidth bandwidth,
        Stability stable,
        MachineState machine,
        Optional<String> connection) {

    /** Returns these results with another bandwidth and stability. */
    Result withBandwidth(MeasuredBandwidth bandwidth, Stability stable) {
        return new Result(
                path, fabric, device, bytes, latency, bandwidth, stable, machine, connection);
    }

    Plot.Entry entry() {
        return new Plot.Entry(label(), bytes, latency, bandwidth, stable);
    }

    /**
     * Returns a label with the path, the device and, for the software fabric, the word "software".
     */
    String label() {
        return path
                + device.map(name -> " on " + name).orElse("")
                + (fabric.equals(Optional.of(Paths.Fabric.SOFTWARE)) ? ", software" : "");
    }
}
