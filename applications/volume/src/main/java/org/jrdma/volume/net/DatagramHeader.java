package org.jrdma.volume.net;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The header of a datagram, which precedes the data.
 *
 * @param transfer the number of the read, which a stranger cannot guess
 * @param index the index of the datagram in the read, which determines the place of the data
 * @param dataBytes the length of the data
 */
record DatagramHeader(long transfer, int index, int dataBytes) {

    /** The length of an encoded header. */
    static final int BYTES = 16;

    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    void encode(MemorySegment target) {
        target.set(LONG, 0, transfer);
        target.set(INT, 8, index);
        target.set(INT, 12, dataBytes);
    }

    static DatagramHeader decode(MemorySegment source) {
        return new DatagramHeader(source.get(LONG, 0), source.get(INT, 8), source.get(INT, 12));
    }
}
