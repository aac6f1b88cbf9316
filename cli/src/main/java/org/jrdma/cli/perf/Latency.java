package org.jrdma.cli.perf;

import java.util.Arrays;
import java.util.Locale;

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

    /** With fewer samples, that is the longest of all. */
    private static final int LEAST_FOR_99 = 100;

    private static final int LEAST_FOR_99_POINT_9 = 1_000;

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

    /** For people. */
    String shown99() {
        return shown(percentile99, LEAST_FOR_99);
    }

    /** For people. */
    String shown99Point9() {
        return shown(percentile99Point9, LEAST_FOR_99_POINT_9);
    }

    private String shown(double percentile, int least) {
        return samples < least ? "-" : String.format(Locale.ROOT, "%.2f", percentile);
    }

    private static long nearestRank(long[] sorted, double part) {
        return sorted[(int) Math.ceil(part * sorted.length) - 1];
    }
}
