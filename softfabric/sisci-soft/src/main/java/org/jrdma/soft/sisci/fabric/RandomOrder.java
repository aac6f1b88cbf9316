package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntConsumer;

/** A random order, in which posted writes are delivered. */
final class RandomOrder {

    private RandomOrder() {}

    /**
     * Calls {@code visitor} once for each number from 0 to {@code count} (exclusive), in random
     * order.
     */
    static void visit(int count, IntConsumer visitor) {
        // The size is a power of 2 and the step is odd, so the loop visits every number.
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
