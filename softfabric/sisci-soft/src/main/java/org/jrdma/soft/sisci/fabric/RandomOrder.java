package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntConsumer;

/** The random order in which posted writes arrive. */
final class RandomOrder {

    private RandomOrder() {}

    /** Visits each number below a count once, in random order. */
    static void visit(int count, IntConsumer visitor) {
        // The size is a power of 2 and the step is odd, so the loop reaches every number.
        var size = Integer.highestOneBit(Math.max(1, count - 1)) << 1;
        var start = ThreadLocalRandom.current().nextInt(size);
        var step = ThreadLocalRandom.current().nextInt(size) | 1;
        for (var i = 0; i < size; i++) {
            var number = (start + i * step) & (size - 1);
            if (number < count) {
                visitor.accept(number);
            }
        }
    }
}
