package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/** The header with the value that was in memory before an atomic operation (AtomicAckETH). */
public record AtomicResultHeader(long original) {

    public static final int BYTES = 8;

    /** Decodes a header from its 8 bytes at an offset. Any bytes are a valid header. */
    public static AtomicResultHeader decode(MemorySegment memory, long offset) {
        return new AtomicResultHeader(BigEndian.longInteger(memory, offset));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putLongInteger(memory, offset, original);
    }
}
