package org.jrdma.verbs.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Reads and writes numbers in network byte order. */
public final class BigEndian {

    private static final boolean NATIVE = ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN;
    private static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private BigEndian() {}

    static long getLong(MemorySegment segment, long offset) {
        return segment.get(LONG, offset);
    }

    static void setLong(MemorySegment segment, long offset, long value) {
        segment.set(LONG, offset, value);
    }

    static int getShort(MemorySegment segment, long offset) {
        return Short.toUnsignedInt(segment.get(SHORT, offset));
    }

    static void setShort(MemorySegment segment, long offset, int value) {
        segment.set(SHORT, offset, (short) value);
    }

    /** Converts between a {@code __be64} and the native byte order. */
    public static long toNative(long value) {
        return NATIVE ? value : Long.reverseBytes(value);
    }

    /** Converts between a {@code __be32} and the native byte order. */
    public static int toNative(int value) {
        return NATIVE ? value : Integer.reverseBytes(value);
    }
}
