package org.jrdma.cli.perf;

/**
 * The measured throughput of messages that are sent in quick succession, without waiting for the
 * arrival of each message.
 */
record MeasuredBandwidth(double megabytesPerSecond, double messagesPerSecond) {

    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MEGA = 1e6;

    static MeasuredBandwidth of(int bytes, long messages, long nanos) {
        var perSecond = messages * NANOS_PER_SECOND / nanos;
        return new MeasuredBandwidth(perSecond * bytes / MEGA, perSecond);
    }
}
