package org.jrdma.soft.sisci;

import java.time.Duration;
import java.util.Locale;

/**
 * How much worse than plain memory a fabric is to be, for tests of those who must bear it.
 *
 * @param weakMemory whether stores through a map of a remote segment reach the peer at a flush or a
 *     barrier only: maps, their pages and the lines of these, of 64 bytes, in no order. A store of
 *     what the map already holds is none.
 * @param delay how long each callback and each DMA transfer is held up
 * @param refusals how many requests to connect to a segment of this process are refused before one
 *     is let in
 * @param mapBytes how much this process can map of remote segments at a time
 */
public record Trouble(boolean weakMemory, Duration delay, int refusals, long mapBytes) {

    /** A good fabric. */
    public static final Trouble NONE = new Trouble(false, Duration.ZERO, 0, Long.MAX_VALUE);

    /** Checks that nothing is negative. */
    public Trouble {
        if (delay.isNegative() || refusals < 0 || mapBytes < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A delay of %s, %d refusals, %,d bytes for maps: none can be negative",
                            delay,
                            refusals,
                            mapBytes));
        }
    }

    /** The same, with or without weak memory. */
    public Trouble withWeakMemory(boolean weak) {
        return new Trouble(weak, delay, refusals, mapBytes);
    }

    /** The same with another delay. */
    public Trouble withDelay(Duration newDelay) {
        return new Trouble(weakMemory, newDelay, refusals, mapBytes);
    }

    /** The same with another number of refusals. */
    public Trouble withRefusals(int number) {
        return new Trouble(weakMemory, delay, number, mapBytes);
    }

    /** The same with another size of the window for maps. */
    public Trouble withMapBytes(long bytes) {
        return new Trouble(weakMemory, delay, refusals, bytes);
    }
}
