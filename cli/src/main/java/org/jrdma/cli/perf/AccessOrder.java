package org.jrdma.cli.perf;

import java.util.Random;

/** The positions of accesses of one size in a range of bytes. */
final class AccessOrder {

    /** The order of the positions. */
    enum Pattern {
        SEQUENTIAL,
        RANDOM
    }

    private final Pattern pattern;
    private final int accessBytes;
    private final long start;
    private final long accesses;
    private final Random random = new Random(1);
    private long next;

    /**
     * Creates an order.
     *
     * @param accessBytes the size of an access, at most that of the range
     * @param start the first byte of the range, where sequential accesses start
     */
    AccessOrder(Pattern pattern, int accessBytes, long start, long rangeBytes) {
        this.pattern = pattern;
        this.accessBytes = accessBytes;
        this.start = start;
        this.accesses = rangeBytes / accessBytes;
    }

    /** Returns the size of an access. */
    int accessBytes() {
        return accessBytes;
    }

    /** Returns the position of the next access: the start plus a multiple of its size. */
    long nextPosition() {
        var number =
                switch (pattern) {
                    case SEQUENTIAL -> next++ % accesses;
                    case RANDOM -> random.nextLong(accesses);
                };
        return start + number * accessBytes;
    }
}
