package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/** Four bytes of immediate data for the receiver's completion (ImmDt). */
public record ImmediateHeader(int data) {

    public static final int BYTES = 4;

    /** Decodes 4 bytes; any value is valid. */
    public static ImmediateHeader decode(MemorySegment memory, long offset) {
        return new ImmediateHeader(BigEndian.integer(memory, offset));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, data);
    }
}
