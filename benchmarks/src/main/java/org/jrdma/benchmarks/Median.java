package org.jrdma.benchmarks;

import java.util.Arrays;

/** The middle of what was measured, which a machine that does other things too leaves alone. */
public final class Median {

    private Median() {}

    /** Sorts the values. */
    public static double of(double... values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }
}
