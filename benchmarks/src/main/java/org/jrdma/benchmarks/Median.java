package org.jrdma.benchmarks;

import java.util.Arrays;

/** The median, which is robust against outliers caused by other load on the machine. */
public final class Median {

    private Median() {}

    /** Returns the median. Sorts the values. */
    public static double of(double... values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
