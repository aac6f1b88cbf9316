package org.jrdma.soft.sisci;

import java.time.Duration;
import java.util.Locale;

/**
 * The faults that a software fabric injects, for tests of programs that must tolerate them.
 *
 * @param weakMemory whether stores through a map of a remote segment reach the peer at a flush or a
 *     barrier only: maps, their pages and the 64-byte lines of these in random order. A store of a
 *     value that the map already holds is not delivered.
 * @param delay the delay of each callback and each DMA transfer
 * @param refusals the number of requests to connect to segments of this process that are refused
 *     first
 * @param mapBytes the number of bytes of remote segments that this process can map at a time
 */
public record FaultOptions(boolean weakMemory, Duration delay, int refusals, long mapBytes) {

    /** No faults. */
    public static final FaultOptions NONE =
            new FaultOptions(false, Duration.ZERO, 0, Long.MAX_VALUE);

    /** Checks that nothing is negative. */
    public FaultOptions {
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

    /** These faults, with or without weak memory. */
    public FaultOptions withWeakMemory(boolean weak) {
        return new FaultOptions(weak, delay, refusals, mapBytes);
    }

    /** These faults with another delay. */
    public FaultOptions withDelay(Duration newDelay) {
        return new FaultOptions(weakMemory, newDelay, refusals, mapBytes);
    }

    /** These faults with another number of refusals. */
    public FaultOptions withRefusals(int number) {
        return new FaultOptions(weakMemory, delay, number, mapBytes);
    }

    /** These faults with another limit of mapped bytes. */
    public FaultOptions withMapBytes(long bytes) {
        return new FaultOptions(weakMemory, delay, refusals, bytes);
    }
}
