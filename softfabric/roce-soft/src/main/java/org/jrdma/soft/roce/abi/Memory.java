package org.jrdma.soft.roce.abi;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;

/** Access to memory that C passes by its address. */
public final class Memory {

    private Memory() {}

    /**
     * Returns a structure of the caller.
     *
     * @throws ErrnoException if the address is NULL
     */
    public static MemorySegment at(long address, GroupLayout layout) {
        return at(address, layout.byteSize());
    }

    /** Stores a pointer in memory of the caller. */
    public static void setPointer(long target, MemorySegment value) {
        at(target, ValueLayout.ADDRESS.byteSize()).set(ValueLayout.ADDRESS, 0, value);
    }

    /** Stores an {@code int} in memory of the caller. */
    public static void setInt(long target, int value) {
        at(target, Integer.BYTES).set(ValueLayout.JAVA_INT, 0, value);
    }

    /**
     * Returns memory of the caller.
     *
     * @throws ErrnoException if the address is NULL
     */
    public static MemorySegment at(long address, long bytes) {
        ErrnoException.throwIf(address == 0, Errno.EINVAL);
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }
}
