package org.jrdma.cli.perf;

import java.util.Collection;

/**
 * A part of a measurement.
 *
 * @param samples the durations of the exchanges, at least one; not changed after this
 * @param messages the number of messages that were transferred for the bandwidth
 * @param nanos the duration of their transfer
 */
record MeasurementSlice(Samples samples, long messages, long nanos) {

    /** Returns the slice that consists of several slices. */
    static MeasurementSlice joined(Collection<MeasurementSlice> slices) {
        var samples = new Samples();
        slices.forEach(slice -> samples.addAll(slice.samples));
        return new MeasurementSlice(
                samples,
                slices.stream().mapToLong(MeasurementSlice::messages).sum(),
                slices.stream().mapToLong(MeasurementSlice::nanos).sum());
    }

    double medianLatency() {
        return LatencyStatistics.of(samples.toArray(), 1).median();
    }

    double messagesPerSecond() {
        return MeasuredBandwidth.of(1, messages, nanos).messagesPerSecond();
    }
}
