package org.jrdma.benchmarks;

import java.util.Locale;

/** A row of a table in which something stands beside another. */
public final class Row {

    private Row() {}

    /**
     * Prints both medians, their ratio, and its bound, as {@code benchmarks/run} judges it; empty
     * for none. Sorts the values.
     */
    public static void print(String what, double[] own, double[] others, String bound) {
        var median = Median.of(own);
        var beside = Median.of(others);
        System.out.printf(
                Locale.ROOT,
                "| %s | %,.1f | %,.1f | %.2f | %s |%n",
                what,
                median,
                beside,
                median / beside,
                bound);
    }
}
