package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * The process's memory by address, unchecked: for the numbers that are written and read for every
 * transfer, where the checks of a segment that is not a constant cost as much as the call to C.
 * Each use must be within memory that the caller keeps reachable until after it.
 */
public final class AddressSpace {

    private static final MemorySegment WHOLE = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private AddressSpace() {}

    /** The 4 bytes at an address that is a multiple of 4. */
    public static int getInt(long address) {
        return WHOLE.get(JAVA_INT, address);
    }

    /** The 8 bytes at an address that is a multiple of 8. */
    public static long getLong(long address) {
        return WHOLE.get(JAVA_LONG, address);
    }

    /** Replaces the 4 bytes at an address that is a multiple of 4. */
    public static void setInt(long address, int value) {
        WHOLE.set(JAVA_INT, address, value);
    }

    /** Replaces the 8 bytes at an address that is a multiple of 8. */
    public static void setLong(long address, long value) {
        WHOLE.set(JAVA_LONG, address, value);
    }

    /** Copies the first bytes of a segment to an address. */
    public static void copy(MemorySegment source, long offset, long address, long bytes) {
        MemorySegment.copy(source, offset, WHOLE, address, bytes);
    }

    /** Copies bytes from an address to another, where they may overlap. */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(WHOLE, from, WHOLE, to, bytes);
    }
}
