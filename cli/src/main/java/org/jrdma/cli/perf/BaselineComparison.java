package org.jrdma.cli.perf;

import java.util.Locale;
import java.util.Optional;

/**
 * The result of a measurement and, for comparison, the figures of C programs that performed the
 * same operations.
 *
 * @param java the result of this command
 * @param c the figures of the C programs; empty if there are none
 * @param missing the reason why there are no figures; empty if there are figures
 */
record BaselineComparison(Result java, Optional<Figures> c, Optional<String> missing) {

    /** The figures of the C programs: microseconds per message and megabytes per second. */
    record Figures(double median, double megabytesPerSecond) {}

    static BaselineComparison unavailable(Result java, String reason) {
        return new BaselineComparison(java, Optional.empty(), Optional.of(reason));
    }

    /** Returns a table row with the figures of C and the ratios of Java to C. */
    String row() {
        return c.map(figures ->
                        String.format(
                                Locale.ROOT,
                                "%10s %9s %9.2f  %9s %9s %11.1f   Java / C: latency %s, MB/s %s",
                                "in C",
                                "",
                                figures.median,
                                "",
                                "",
                                figures.megabytesPerSecond,
                                ratio(java.latency().median(), figures.median),
                                ratio(
                                        java.bandwidth().megabytesPerSecond(),
                                        figures.megabytesPerSecond)))
                .orElseGet(() -> "%10s not compared: %s".formatted("in C", missing.orElse("")));
    }

    /**
     * Returns the ratio as text, or "-" if the figure of C is 0. A C program may report a
     * throughput of 0 on a slow machine, because it prints only two decimals.
     */
    private static String ratio(double inJava, double inC) {
        return inC > 0 ? String.format(Locale.ROOT, "%.2f", inJava / inC) : "-";
    }
}
