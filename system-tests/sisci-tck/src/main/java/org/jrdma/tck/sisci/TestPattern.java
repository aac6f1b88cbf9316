package org.jrdma.tck.sisci;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Test patterns in memory. */
final class TestPattern {

    static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private TestPattern() {}

    /** Returns bytes that depend on their index and the seed. */
    static byte[] pattern(long seed, int length) {
        var bytes = new byte[length];
        for (var i = 0; i < length; i++) {
            bytes[i] = at(seed, i);
        }
        return bytes;
    }

    private static byte at(long seed, long place) {
        return (byte) (seed * 31 + place * 7 + (place >>> 8));
    }

    static void fill(MemorySegment memory, long seed) {
        memory.copyFrom(MemorySegment.ofArray(pattern(seed, (int) memory.byteSize())));
    }

    /** Returns true if memory has the pattern that {@link #fill} stores. */
    static boolean holds(MemorySegment memory, long seed) {
        return memory.mismatch(MemorySegment.ofArray(pattern(seed, (int) memory.byteSize()))) < 0;
    }
}
