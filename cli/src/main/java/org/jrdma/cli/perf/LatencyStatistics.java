package org.jrdma.cli.perf;

import java.util.Arrays;
import java.util.Locale;

/**
 * The measured latency of messages in microseconds.
 *
 * @param samples the number of measured exchanges
 */
record LatencyStatistics(
        int samples,
        double minimum,
        double mean,
        double median,
        double percentile90,
        double percentile99,
        double percentile99Point9,
        double maximum) {

    /**
     * The minimum number of samples for the 99th percentile. With fewer samples, the percentile
     * would equal the maximum.
     */
    private static final int MIN_SAMPLES_FOR_99 = 100;

    private static final int MIN_SAMPLES_FOR_99_POINT_9 = 1_000;

    private static final double NANOS_PER_MICRO = 1_000;

    /**
     * Computes the latency from samples.
     *
     * @param nanos the durations of the exchanges
     * @param messages the number of messages in an exchange
     */
    static LatencyStatistics of(long[] nanos, int messages) {
        var sorted = nanos.clone();
        Arrays.sort(sorted);
        var unit = NANOS_PER_MICRO * messages;
        return new LatencyStatistics(
                sorted.length,
                sorted[0] / unit,
                Arrays.stream(sorted).average().orElseThrow() / unit,
                nearestRank(sorted, 0.5) / unit,
                nearestRank(sorted, 0.9) / unit,
                nearestRank(sorted, 0.99) / unit,
                nearestRank(sorted, 0.999) / unit,
                sorted[sorted.length - 1] / unit);
    }

    boolean hasPercentile99() {
        return samples >= MIN_SAMPLES_FOR_99;
    }

    /** Returns the 99th percentile as text, or "-" if there are too few samples. */
    String percentile99AsText() {
        return text(percentile99, MIN_SAMPLES_FOR_99);
    }

    /** Returns the 99.9th percentile as text, or "-" if there are too few samples. */
    String percentile99Point9AsText() {
        return text(percentile99Point9, MIN_SAMPLES_FOR_99_POINT_9);
    }

    private String text(double percentile, int minSamples) {
        return samples < minSamples ? "-" : String.format(Locale.ROOT, "%.2f", percentile);
    }

    private static long nearestRank(long[] sorted, double part) {
        return sorted[(int) Math.ceil(part * sorted.length) - 1];
    }
}
