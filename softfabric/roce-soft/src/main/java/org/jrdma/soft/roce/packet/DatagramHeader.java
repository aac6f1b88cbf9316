package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/** The queue key that the receiver demands and the queue pair that sends (DETH). */
public record DatagramHeader(int queueKey, int sourceQueuePair) {

    public static final int BYTES = 8;

    /** Decodes 8 bytes; any value is valid. */
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
