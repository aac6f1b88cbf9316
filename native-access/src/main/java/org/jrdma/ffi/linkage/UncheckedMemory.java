package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * Unchecked access to the memory of the process by address. Use it only for values that are read
 * and written for every transfer: the bounds and lifetime checks of a non-constant segment cost as
 * much as a native call. The caller must keep the accessed memory reachable until the access has
 * ended.
 */
public final class UncheckedMemory {

    private static final MemorySegment WHOLE = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private UncheckedMemory() {}

    /** Reads 4 bytes at an address that is a multiple of 4. */
    public static int getInt(long address) {
        return WHOLE.get(JAVA_INT, address);
    }

    /** Reads 8 bytes at an address that is a multiple of 8. */
    public static long getLong(long address) {
        return WHOLE.get(JAVA_LONG, address);
    }

    /** Writes 4 bytes at an address that is a multiple of 4. */
    public static void setInt(long address, int value) {
        WHOLE.set(JAVA_INT, address, value);
    }

    /** Writes 8 bytes at an address that is a multiple of 8. */
    public static void setLong(long address, long value) {
        WHOLE.set(JAVA_LONG, address, value);
    }

    /** Copies bytes from a segment to an address. */
    public static void copy(MemorySegment source, long offset, long address, long bytes) {
        MemorySegment.copy(source, offset, WHOLE, address, bytes);
    }

    /** Copies bytes from one address to another. The ranges may overlap. */
    public static void copy(long from, long to, long bytes) {
        MemorySegment.copy(WHOLE, from, WHOLE, to, bytes);
    }
}
