package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header of a datagram (DETH).
 *
 * @param queueKey the queue key, which must be equal to that of the receiving queue pair
 * @param sourceQueuePair the number of the sending queue pair
 */
public record DatagramHeader(int queueKey, int sourceQueuePair) {

    public static final int BYTES = 8;

    /** Decodes a header from its 8 bytes at an offset. Any bytes are a valid header. */
    public static DatagramHeader decode(MemorySegment memory, long offset) {
        return new DatagramHeader(
                BigEndian.integer(memory, offset),
                BigEndian.integer(memory, offset + 4) & 0xff_ffff);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, queueKey);
        BigEndian.putInteger(memory, offset + 4, sourceQueuePair);
    }
}
