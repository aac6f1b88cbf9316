package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * How far what was written must have got, and how much of it, FETH. The codes are those of
 * libibverbs.
 *
 * @param placement bits: {@link #GLOBAL}, {@link #PERSISTENT}
 * @param selectivity {@link #RANGE}, or {@link #REGION}
 */
public record FlushHeader(int placement, int selectivity) {

    public static final int BYTES = 4;

    /** Visible to all of the machine. */
    public static final int GLOBAL = 1;

    /** Still there when the power comes back. */
    public static final int PERSISTENT = 2;

    /** What the {@link RdmaHeader} names. */
    public static final int RANGE = 0;

    /** All of the region that the {@link RdmaHeader} names. */
    public static final int REGION = 1;

    private static final int PLACEMENT_BITS = 0xf;
    private static final int SELECTIVITY_SHIFT = 4;
    private static final int SELECTIVITY_BITS = 3;

    /** Reads 4 bytes, which must be there; any are valid. */
    public static FlushHeader decode(MemorySegment memory, long offset) {
        var bits = BigEndian.integer(memory, offset);
        return new FlushHeader(
                bits & PLACEMENT_BITS, bits >>> SELECTIVITY_SHIFT & SELECTIVITY_BITS);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, selectivity << SELECTIVITY_SHIFT | placement);
    }
}
