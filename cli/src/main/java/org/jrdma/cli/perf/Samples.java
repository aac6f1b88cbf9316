package org.jrdma.cli.perf;

import java.util.Arrays;

/** The measured durations in nanoseconds. */
final class Samples {

    private static final int INITIAL_CAPACITY = 1024;

    private long[] nanos = new long[INITIAL_CAPACITY];
    private int count;

    void add(long sample) {
        if (count == nanos.length) {
            nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = sample;
    }

    void addAll(Samples others) {
        nanos = Arrays.copyOf(nanos, Math.max(nanos.length, count + others.count));
        System.arraycopy(others.nanos, 0, nanos, count, others.count);
        count += others.count;
    }

    int count() {
        return count;
    }

    void clear() {
        count = 0;
    }

    Samples copy() {
        var copy = new Samples();
        copy.addAll(this);
        return copy;
    }

    long[] toArray() {
        return Arrays.copyOf(nanos, count);
    }
}
