package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The addresses to which no ring could be created, and to which packets therefore use UDP for some
 * time. Has a fixed size: a new address replaces another one whose time ends earlier. The methods
 * allocate no memory.
 */
final class RefusedAddresses {

    static final long MIN_NANOS = 1_000_000_000;
    static final long MAX_NANOS = 64 * MIN_NANOS;

    private static final int HASH_BITS = 6;

    /** The number of addresses with the same hash. */
    private static final int WAYS = 8;

    private final long[] high = new long[WAYS << HASH_BITS];
    private final long[] low = new long[WAYS << HASH_BITS];
    private final long[] until = new long[WAYS << HASH_BITS];
    private final long[] duration = new long[WAYS << HASH_BITS];

    boolean contains(long addressHigh, long addressLow, long now) {
        var index = find(addressHigh, addressLow);
        return index >= 0 && until[index] > now;
    }

    /**
     * Refuses an address, unless it is already refused: for {@link #MIN_NANOS}, or for twice as
     * long as the last time if that ended less than {@link #MAX_NANOS} ago. Returns true for the
     * first time.
     */
    boolean add(RoceGid address, long now) {
        var index = find(address.high(), address.low());
        if (index >= 0 && until[index] > now) {
            return false;
        }
        var isRepeated = index >= 0 && now - until[index] < MAX_NANOS;
        if (!isRepeated) {
            index = index >= 0 ? index : earliest(first(address.high(), address.low()));
            high[index] = address.high();
            low[index] = address.low();
            duration[index] = 0;
        }
        duration[index] = Math.clamp(2 * duration[index], MIN_NANOS, MAX_NANOS);
        until[index] = now + duration[index];
        return !isRepeated;
    }

    private int find(long addressHigh, long addressLow) {
        var first = first(addressHigh, addressLow);
        for (var i = first; i < first + WAYS; i++) {
            if (low[i] == addressLow && high[i] == addressHigh) {
                return i;
            }
        }
        return -1;
    }

    private int earliest(int first) {
        var earliest = first;
        for (var i = first + 1; i < first + WAYS; i++) {
            if (until[i] < until[earliest]) {
                earliest = i;
            }
        }
        return earliest;
    }

    private static int first(long addressHigh, long addressLow) {
        var mixed = (addressHigh ^ addressLow) * 0x9e37_79b9_7f4a_7c15L;
        return WAYS * (int) (mixed >>> Long.SIZE - HASH_BITS);
    }
}
