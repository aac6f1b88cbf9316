package org.jrdma.benchmarks;

import java.util.Locale;

/** A row of a table that compares a measurement with a baseline. */
public final class ComparisonRowPrinter {

    private ComparisonRowPrinter() {}

    /**
     * Prints the medians of two arrays, their ratio and its bound. Sorts the arrays.
     *
     * @param bound the bound that {@code benchmarks/run} verifies; empty for none
     */
    public static void print(String what, double[] own, double[] baseline, String bound) {
        var median = Median.of(own);
        var baselineMedian = Median.of(baseline);
        System.out.printf(
                Locale.ROOT,
                "| %s | %,.1f | %,.1f | %.2f | %s |%n",
                what,
                median,
                baselineMedian,
                median / baselineMedian,
                bound);
    }
}
