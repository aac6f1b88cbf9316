package org.jrdma.cli.perf;

/**
 * The stability of the figures of a measurement. A figure is stable if repetitions agree.
 *
 * @param latency true if the median latency is stable
 * @param bandwidth true if the bandwidth is stable
 */
record Stability(boolean latency, boolean bandwidth) {

    /** Neither figure is stable. */
    static final Stability NONE = new Stability(false, false);

    /** The part of the heading of a table that explains {@link #mark}. */
    static final String LEGEND = "~: unstable";

    /**
     * The explanation for the help of a command. picocli formats it, so a percent sign is written
     * twice.
     */
    static final String DESCRIPTION =
            "A measurement is repeated up to five times until its parts agree. The mark ~ follows a p50 or a bandwidth whose parts differ by more than 15 %%, for example because other programs used the processors.";

    boolean ofBoth() {
        return latency && bandwidth;
    }

    /** Returns a character that follows an unstable figure, or a space. */
    static char mark(boolean isStable) {
        return isStable ? ' ' : '~';
    }

    char latencyMark() {
        return mark(latency);
    }

    char bandwidthMark() {
        return mark(bandwidth);
    }
}
