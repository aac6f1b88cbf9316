package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * Which receive queue a request is for, XRCETH: the first header of each.
 *
 * @param receiveQueue its number, of 24 bits
 */
public record ExtendedHeader(int receiveQueue) {

    public static final int BYTES = 4;

    /** Reads 4 bytes, which must be there; any are valid. */
    public static ExtendedHeader decode(MemorySegment memory, long offset) {
        return new ExtendedHeader(BigEndian.integer(memory, offset) & 0xff_ffff);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, receiveQueue);
    }
}
