package org.jrdma.cli.perf;

import java.util.Arrays;

/**
 * How long one message takes, in microseconds: of {@code samples} exchanges, how many percent took
 * no longer.
 */
record Latency(
        int samples,
        double minimum,
        double mean,
        double median,
        double percentile90,
        double percentile99,
        double percentile99Point9,
        double maximum) {

    private static final double NANOS_PER_MICRO = 1_000;

    /**
     * Of exchanges in nanoseconds.
     *
     * @param messages how many messages an exchange is
     */
    static Latency of(long[] nanos, int messages) {
        var sorted = nanos.clone();
        Arrays.sort(sorted);
        var unit = NANOS_PER_MICRO * messages;
        return new Latency(
                sorted.length,
                sorted[0] / unit,
                Arrays.stream(sorted).average().orElseThrow() / unit,
                nearestRank(sorted, 0.5) / unit,
                nearestRank(sorted, 0.9) / unit,
                nearestRank(sorted, 0.99) / unit,
                nearestRank(sorted, 0.999) / unit,
                sorted[sorted.length - 1] / unit);
    }

    private static long nearestRank(long[] sorted, double part) {
        return sorted[(int) Math.ceil(part * sorted.length) - 1];
    }
}
