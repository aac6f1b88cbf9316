package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header with the remote memory of a WRITE, READ, ATOMIC WRITE or FLUSH (RETH).
 *
 * @param length the length in bytes, an unsigned number
 */
public record RdmaHeader(long address, int key, int length) {

    public static final int BYTES = 16;

    /** Decodes a header from its 16 bytes at an offset. Any bytes are a valid header. */
    public static RdmaHeader decode(MemorySegment memory, long offset) {
        return new RdmaHeader(
                BigEndian.longInteger(memory, offset),
                BigEndian.integer(memory, offset + 8),
                BigEndian.integer(memory, offset + 12));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putLongInteger(memory, offset, address);
        BigEndian.putInteger(memory, offset + 8, key);
        BigEndian.putInteger(memory, offset + 12, length);
    }
}
