package org.jrdma.soft.sisci.fabric;

import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntConsumer;

/** Random orders, in which posted writes arrive. */
final class RandomOrder {

    private RandomOrder() {}

    /** Visits the numbers below a count, each once, in another order each time. */
    static void visit(int count, IntConsumer visitor) {
        var most = Integer.highestOneBit(Math.max(1, count - 1)) << 1; // a power of 2, at least so
        var start = ThreadLocalRandom.current().nextInt(most);
        var step = ThreadLocalRandom.current().nextInt(most) | 1; // odd, so it meets every number
        for (var i = 0; i < most; i++) {
            var number = (start + i * step) & (most - 1);
            if (number < count) {
                visitor.accept(number);
            }
        }
    }
}
