package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/** The header with the key that the receiver must invalidate (IETH). */
public record InvalidateHeader(int key) {

    public static final int BYTES = 4;

    /** Decodes a header from its 4 bytes at an offset. Any bytes are a valid header. */
    public static InvalidateHeader decode(MemorySegment memory, long offset) {
        return new InvalidateHeader(BigEndian.integer(memory, offset));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, key);
    }
}
