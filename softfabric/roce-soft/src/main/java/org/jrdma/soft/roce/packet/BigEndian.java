package org.jrdma.soft.roce.packet;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.nativeOrder;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Reads and writes numbers in network byte order (big-endian). The offsets need no alignment. */
public final class BigEndian {

    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(BIG_ENDIAN);

    private BigEndian() {}

    public static int unsignedByte(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_BYTE, offset) & 0xff;
    }

    public static void putByte(MemorySegment memory, long offset, int value) {
        memory.set(ValueLayout.JAVA_BYTE, offset, (byte) value);
    }

    public static int unsignedShort(MemorySegment memory, long offset) {
        return memory.get(SHORT, offset) & 0xffff;
    }

    public static void putShort(MemorySegment memory, long offset, int value) {
        memory.set(SHORT, offset, (short) value);
    }

    public static int integer(MemorySegment memory, long offset) {
        return memory.get(INT, offset);
    }

    public static void putInteger(MemorySegment memory, long offset, int value) {
        memory.set(INT, offset, value);
    }

    public static long longInteger(MemorySegment memory, long offset) {
        return memory.get(LONG, offset);
    }

    public static void putLongInteger(MemorySegment memory, long offset, long value) {
        memory.set(LONG, offset, value);
    }

    /** Converts a value between the byte order of this machine and network byte order. */
    public static int swap(int value) {
        return nativeOrder() == BIG_ENDIAN ? value : Integer.reverseBytes(value);
    }

    /** Converts a value between the byte order of this machine and network byte order. */
    public static long swap(long value) {
        return nativeOrder() == BIG_ENDIAN ? value : Long.reverseBytes(value);
    }
}
