package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header with four bytes of immediate data, which the receiver reports in a completion (ImmDt).
 */
public record ImmediateHeader(int data) {

    public static final int BYTES = 4;

    /** Decodes a header from its 4 bytes at an offset. Any bytes are a valid header. */
    public static ImmediateHeader decode(MemorySegment memory, long offset) {
        return new ImmediateHeader(BigEndian.integer(memory, offset));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, data);
    }
}
