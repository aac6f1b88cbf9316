package org.jrdma.cli.perf;

import java.util.Locale;
import java.util.Optional;

/**
 * What was measured of a path, and the same by the programs in C.
 *
 * @param java by this command
 * @param c by them; empty where they could not
 * @param missing why not
 */
record InC(Result java, Optional<Figures> c, Optional<String> missing) {

    /** What the programs say, in microseconds for a message and megabytes in a second. */
    record Figures(double median, double megabytesPerSecond) {}

    static InC missing(Result java, String why) {
        return new InC(java, Optional.empty(), Optional.of(why));
    }

    /** A row below that of the result, with how many times as much it is in Java. */
    String row() {
        return c.map(figures ->
                        String.format(
                                Locale.ROOT,
                                "%10s %9s %9.2f %9s %9s %11.1f   Java / C: latency %s, MB/s %s",
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

    /** None where C's figure is 0 with the two digits that it has, as on a machine that crawls. */
    private static String ratio(double inJava, double inC) {
        return inC > 0 ? String.format(Locale.ROOT, "%.2f", inJava / inC) : "-";
    }
}
