package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header with the remote memory of a WRITE, READ, ATOMIC WRITE or FLUSH (RETH). Any 16 bytes
 * are a valid header. No object represents a header, because the engine would create one for each
 * packet.
 */
public final class RdmaHeader {

    public static final int BYTES = 16;

    private RdmaHeader() {}

    static long address(MemorySegment memory, long offset) {
        return BigEndian.longInteger(memory, offset);
    }

    static int key(MemorySegment memory, long offset) {
        return BigEndian.integer(memory, offset + 8);
    }

    /** Returns the length of the memory in bytes. */
    static long length(MemorySegment memory, long offset) {
        return Integer.toUnsignedLong(BigEndian.integer(memory, offset + 12));
    }

    /**
     * Encodes a header at an offset.
     *
     * @param length the length of the memory in bytes, an unsigned number
     */
    public static void encode(
            MemorySegment memory, long offset, long address, int key, int length) {
        BigEndian.putLongInteger(memory, offset, address);
        BigEndian.putInteger(memory, offset + 8, key);
        BigEndian.putInteger(memory, offset + 12, length);
    }
}
