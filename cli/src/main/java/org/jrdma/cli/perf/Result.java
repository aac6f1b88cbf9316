package org.jrdma.cli.perf;

import java.util.Optional;

/**
 * The latency and bandwidth of a path for one message size.
 *
 * @param fabric the fabric; empty for sockets, which select a transport themselves
 * @param device the local RDMA device; empty if the path uses none
 * @param cacheLineNanos the result of {@link CacheLineExchange}, the longer one of before and after
 *     the measurement
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
        long cacheLineNanos,
        Optional<String> connection) {

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
