package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header that names the receive queue to which a request is addressed (XRCETH). It is the first
 * header after the base transport header of each request over an extended connection.
 *
 * @param receiveQueue the number of the receive queue, 24 bits
 */
public record XrcHeader(int receiveQueue) {

    public static final int BYTES = 4;

    /** Decodes a header from its 4 bytes at an offset. Any bytes are a valid header. */
    public static XrcHeader decode(MemorySegment memory, long offset) {
        return new XrcHeader(BigEndian.integer(memory, offset) & 0xff_ffff);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, receiveQueue);
    }
}
