package org.jrdma.soft.sisci;

import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.CheckReturnValue;

/**
 * The faults that the software fabric injects, to test programs that must tolerate them. Immutable:
 * each method with a parameter returns a changed copy.
 *
 * @param weakMemory true if stores through a map of a remote segment reach the peer only at a flush
 *     or a barrier. Maps, the pages of a map and the 64-byte lines of a page are then delivered in
 *     random order. A store of a value that the map already contains is not delivered. Changes of
 *     the segment appear in a map with a delay, or at a flush
 * @param delay the delay before each callback of the program and before each DMA transfer
 * @param refusals the number of connect requests to segments of this process that are refused
 *     before the first one is accepted
 * @param mapBytes the total size of the remote segments that this process can map at the same time
 */
@CheckReturnValue
public record FaultOptions(boolean weakMemory, Duration delay, int refusals, long mapBytes) {

    /** No faults. */
    public static final FaultOptions NONE =
            new FaultOptions(false, Duration.ZERO, 0, Long.MAX_VALUE);

    /** Checks that no value is negative. */
    public FaultOptions {
        if (delay.isNegative() || refusals < 0 || mapBytes < 0) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Invalid faults: delay %s, %d refusals, %,d bytes for maps. No value"
                                    + " may be negative.",
                            delay,
                            refusals,
                            mapBytes));
        }
    }

    /** Returns a copy of these faults with {@code weakMemory} set to the given value. */
    public FaultOptions weakMemory(boolean weak) {
        return new FaultOptions(weak, delay, refusals, mapBytes);
    }

    /** Returns a copy of these faults with another delay. */
    public FaultOptions delay(Duration newDelay) {
        return new FaultOptions(weakMemory, newDelay, refusals, mapBytes);
    }

    /** Returns a copy of these faults with another number of refusals. */
    public FaultOptions refusals(int number) {
        return new FaultOptions(weakMemory, delay, number, mapBytes);
    }

    /** Returns a copy of these faults with another limit of mapped bytes. */
    public FaultOptions mapBytes(long bytes) {
        return new FaultOptions(weakMemory, delay, refusals, bytes);
    }
}
