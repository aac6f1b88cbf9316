package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.packet.BigEndian;

/** Access to message fields that are not whole numbers of bytes, or longer than a number. */
final class MessageFields {

    private static final int LOW_24_BITS = 0xff_ffff;

    private MessageFields() {}

    /** 24 bits, followed by 8 that are another field's. */
    static int upper24(MemorySegment body, long offset) {
        return BigEndian.integer(body, offset) >>> 8;
    }

    /** The 8 bits behind stay as they are. */
    static void putUpper24(MemorySegment body, long offset, int value) {
        var last = BigEndian.unsignedByte(body, offset + 3);
        BigEndian.putInteger(body, offset, (value & LOW_24_BITS) << 8 | last);
    }

    /** 24 bits, behind 8 that are another field's. */
    static int lower24(MemorySegment body, long offset) {
        return BigEndian.integer(body, offset) & LOW_24_BITS;
    }

    /** The 8 bits in front stay as they are. */
    static void putLower24(MemorySegment body, long offset, int value) {
        var first = BigEndian.unsignedByte(body, offset);
        BigEndian.putInteger(body, offset, first << 24 | (value & LOW_24_BITS));
    }

    static Address address(MemorySegment body, long offset) {
        return new Address(
                BigEndian.longInteger(body, offset),
                BigEndian.longInteger(body, offset + Long.BYTES));
    }

    static void putAddress(MemorySegment body, long offset, Address address) {
        BigEndian.putLongInteger(body, offset, address.high());
        BigEndian.putLongInteger(body, offset + Long.BYTES, address.low());
    }

    /** The rest of a message, copied. */
    static MemorySegment rest(MemorySegment body, long offset, long bytes) {
        return MemorySegment.ofArray(new byte[(int) bytes]).copyFrom(body.asSlice(offset, bytes));
    }

    /** Data that may be shorter than its place; zeros follow. */
    static void putRest(MemorySegment body, long offset, MemorySegment data) {
        MemorySegment.copy(data, 0, body, offset, data.byteSize());
    }

    /**
     * Data for a message.
     *
     * @throws IllegalArgumentException if there is no room for it
     */
    static MemorySegment checked(MemorySegment data, int room) {
        if (data.byteSize() > room) {
            throw new IllegalArgumentException(
                    "%d bytes of private data where there is room for %d"
                            .formatted(data.byteSize(), room));
        }
        return data;
    }
}
