package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header with the extent of a flush (FETH). The codes are those of libibverbs.
 *
 * @param placement a combination of {@link #GLOBAL} and {@link #PERSISTENT}
 * @param selectivity {@link #RANGE} or {@link #REGION}
 */
public record FlushHeader(int placement, int selectivity) {

    public static final int BYTES = 4;

    /**
     * The placement that makes earlier writes visible to all threads and devices of the machine.
     */
    public static final int GLOBAL = 1;

    /** The placement that makes earlier writes persistent. */
    public static final int PERSISTENT = 2;

    /** The selectivity that flushes the memory range that the {@link RdmaHeader} names. */
    public static final int RANGE = 0;

    /** The selectivity that flushes the whole memory region that the {@link RdmaHeader} names. */
    public static final int REGION = 1;

    private static final int PLACEMENT_BITS = 0xf;
    private static final int SELECTIVITY_SHIFT = 4;
    private static final int SELECTIVITY_BITS = 3;

    /** Decodes a header from its 4 bytes at an offset. Any bytes are a valid header. */
    public static FlushHeader decode(MemorySegment memory, long offset) {
        var bits = BigEndian.integer(memory, offset);
        return new FlushHeader(
                bits & PLACEMENT_BITS, bits >>> SELECTIVITY_SHIFT & SELECTIVITY_BITS);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, selectivity << SELECTIVITY_SHIFT | placement);
    }
}
