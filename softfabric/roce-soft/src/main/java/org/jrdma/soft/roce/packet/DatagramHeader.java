package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/** Who sends a datagram, and the key that its receiver demands, DETH. */
public record DatagramHeader(int queueKey, int sourceQueuePair) {

    public static final int BYTES = 8;

    /** Reads 8 bytes, which must be there; any are valid. */
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
