package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The latency and bandwidth of one operation. */
record RepeatedMeasurement(
        LatencyStatistics latency, MeasuredBandwidth bandwidth, Stability stable) {

    /** The number of slices whose figures must agree. */
    static final int SLICES = 4;

    private static final int MAX_SLICES = 5 * SLICES;
    private static final double MAX_RATIO = 1.15;

    /**
     * The number of exchanges after which the JVM has compiled their code: more than the 15,000
     * calls of a method after which the JVM compiles it with C2.
     */
    private static final int WARM_UP_EXCHANGES = 20_000;

    private static final int MAX_WARM_UPS = 10;

    /**
     * The maximum duration of a warm-up or of all slices, as a multiple of the requested time. A
     * slice of large messages on a slow network takes longer than requested.
     */
    private static final int MAX_TIMES = 20;

    /** Measures a slice of about the given duration. */
    @FunctionalInterface
    interface SliceMeter {
        MeasurementSlice measure(Duration time) throws IOException;
    }

    /**
     * Exchanges messages before the first measurement, so that the JVMs of both sides compile the
     * code: {@value #WARM_UP_EXCHANGES} exchanges, for at least the given time, and at most {@value
     * #MAX_WARM_UPS} times as long.
     */
    static void warmUp(Duration time, SliceMeter meter) throws IOException {
        var end = System.nanoTime() + MAX_TIMES * time.toNanos();
        var exchanges = 0;
        var count = 0;
        do {
            exchanges += meter.measure(time).samples().count();
            count++;
        } while (exchanges < WARM_UP_EXCHANGES
                && count < MAX_WARM_UPS
                && System.nanoTime() - end < 0);
    }

    /** Returns the figures of a single slice, which are not stable. */
    static RepeatedMeasurement once(int bytes, int messages, MeasurementSlice slice) {
        return of(bytes, messages, slice, Stability.NONE);
    }

    private static RepeatedMeasurement of(
            int bytes, int messages, MeasurementSlice slice, Stability stable) {
        return new RepeatedMeasurement(
                LatencyStatistics.of(slice.samples().toArray(), messages),
                MeasuredBandwidth.of(bytes, slice.messages(), slice.nanos()),
                stable);
    }

    /**
     * Measures slices until the last {@link #SLICES} of them agree, or five times as many were
     * measured. The result consists of these last slices. Slices that differ, because the JVM was
     * compiling code or another program used a processor, are thus discarded unless all attempts
     * differ.
     *
     * @param time the duration of the slices of the result
     * @param bytes the size of a message
     * @param messages the number of messages in an exchange
     */
    static RepeatedMeasurement repeat(Duration time, int bytes, int messages, SliceMeter meter)
            throws IOException {
        return repeatInTurns(time, bytes, messages, List.of(meter)).getFirst();
    }

    /**
     * Measures slices of several operations in turns, so that a change of the machine concerns all
     * of them, until the last {@link #SLICES} of each operation agree as {@link #repeat} requires.
     * All of them must agree at the same time, so more results are unstable than without turns.
     *
     * @param time the duration of the slices of each result
     * @return the results of the meters, in their order
     */
    static List<RepeatedMeasurement> repeatInTurns(
            Duration time, int bytes, int messages, List<SliceMeter> meters) throws IOException {
        var end = System.nanoTime() + MAX_TIMES * time.toNanos() * meters.size();
        var series = meters.stream().map(Series::new).toList();
        var count = 0;
        do {
            for (var each : series) {
                each.measure(time.dividedBy(SLICES));
            }
            count++;
        } while (count < SLICES
                || (!series.stream().allMatch(Series::isStable)
                        && count < MAX_SLICES
                        && System.nanoTime() - end < 0));
        return series.stream().map(each -> each.result(bytes, messages)).toList();
    }

    /** The last slices of one operation. */
    private static final class Series {

        private final SliceMeter meter;
        private final Deque<MeasurementSlice> last = new ArrayDeque<>();

        Series(SliceMeter meter) {
            this.meter = meter;
        }

        void measure(Duration time) throws IOException {
            last.addLast(meter.measure(time));
            if (last.size() > SLICES) {
                last.removeFirst();
            }
        }

        Stability stability() {
            return new Stability(
                    agree(MeasurementSlice::medianLatency),
                    agree(MeasurementSlice::messagesPerSecond));
        }

        boolean isStable() {
            return stability().ofBoth();
        }

        RepeatedMeasurement result(int bytes, int messages) {
            return of(bytes, messages, MeasurementSlice.joined(last), stability());
        }

        private boolean agree(ToDoubleFunction<MeasurementSlice> figure) {
            var figures = last.stream().mapToDouble(figure).summaryStatistics();
            return figures.getMax() <= MAX_RATIO * figures.getMin();
        }
    }
}
