package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;

/** Reads and writes the fields of messages: numbers of 24 bits, addresses and private data. */
final class MessageFields {

    private static final int LOW_24_BITS = 0xff_ffff;

    private MessageFields() {}

    /** Returns a number of 24 bits that is followed by a field of 8 bits in the same word. */
    static int upper24(MemorySegment body, long offset) {
        return BigEndian.integer(body, offset) >>> 8;
    }

    /** Writes a number of 24 bits and preserves the 8 bits after it. */
    static void putUpper24(MemorySegment body, long offset, int value) {
        var last = BigEndian.unsignedByte(body, offset + 3);
        BigEndian.putInteger(body, offset, (value & LOW_24_BITS) << 8 | last);
    }

    /** Returns a number of 24 bits that follows a field of 8 bits in the same word. */
    static int lower24(MemorySegment body, long offset) {
        return BigEndian.integer(body, offset) & LOW_24_BITS;
    }

    /** Writes a number of 24 bits and preserves the 8 bits before it. */
    static void putLower24(MemorySegment body, long offset, int value) {
        var first = BigEndian.unsignedByte(body, offset);
        BigEndian.putInteger(body, offset, first << 24 | (value & LOW_24_BITS));
    }

    static RoceGid address(MemorySegment body, long offset) {
        return new RoceGid(
                BigEndian.longInteger(body, offset),
                BigEndian.longInteger(body, offset + Long.BYTES));
    }

    static void putAddress(MemorySegment body, long offset, RoceGid address) {
        BigEndian.putLongInteger(body, offset, address.high());
        BigEndian.putLongInteger(body, offset + Long.BYTES, address.low());
    }

    /** Returns a copy of the private data at the end of a message. */
    static MemorySegment rest(MemorySegment body, long offset, long bytes) {
        return MemorySegment.ofArray(new byte[(int) bytes]).copyFrom(body.asSlice(offset, bytes));
    }

    /**
     * Writes private data at the end of a message. The data may be shorter than its field; the
     * remaining bytes are not changed.
     */
    static void putRest(MemorySegment body, long offset, MemorySegment data) {
        MemorySegment.copy(data, 0, body, offset, data.byteSize());
    }

    /**
     * Returns {@code data} if its length is at most {@code maxBytes}.
     *
     * @throws IllegalArgumentException if the data is longer
     */
    static MemorySegment checked(MemorySegment data, int maxBytes) {
        if (data.byteSize() > maxBytes) {
            throw new IllegalArgumentException(
                    "Private data of %d bytes is too long: the message can carry %d bytes."
                            .formatted(data.byteSize(), maxBytes));
        }
        return data;
    }
}
