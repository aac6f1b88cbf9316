package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header that names the remote memory of an atomic operation and contains its operands
 * (AtomicETH).
 *
 * @param swapOrAdd the value that COMPARE AND SWAP stores or FETCH AND ADD adds
 * @param compare the value that COMPARE AND SWAP expects in memory; FETCH AND ADD ignores it
 */
public record AtomicHeader(long address, int key, long swapOrAdd, long compare) {

    public static final int BYTES = 28;

    /** Decodes a header from its 28 bytes at an offset. Any bytes are a valid header. */
    public static AtomicHeader decode(MemorySegment memory, long offset) {
        return new AtomicHeader(
                BigEndian.longInteger(memory, offset),
                BigEndian.integer(memory, offset + 8),
                BigEndian.longInteger(memory, offset + 12),
                BigEndian.longInteger(memory, offset + 20));
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putLongInteger(memory, offset, address);
        BigEndian.putInteger(memory, offset + 8, key);
        BigEndian.putLongInteger(memory, offset + 12, swapOrAdd);
        BigEndian.putLongInteger(memory, offset + 20, compare);
    }
}
