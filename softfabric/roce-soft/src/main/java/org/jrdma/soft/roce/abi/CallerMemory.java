package org.jrdma.soft.roce.abi;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;

/** Access to native memory that a C caller passes to a function by its address. */
public final class CallerMemory {

    private CallerMemory() {}

    /**
     * Returns the structure to which a pointer of the caller points.
     *
     * @throws ErrnoException with {@code EINVAL} if the address is NULL
     */
    public static MemorySegment at(long address, GroupLayout layout) {
        return at(address, layout.byteSize());
    }

    /**
     * Stores a pointer at an address that the C caller has passed for a result.
     *
     * @throws ErrnoException with {@code EINVAL} if the address is NULL
     */
    public static void setPointer(long target, MemorySegment value) {
        at(target, ValueLayout.ADDRESS.byteSize()).set(ValueLayout.ADDRESS, 0, value);
    }

    /**
     * Stores an {@code int} at an address that the C caller has passed for a result.
     *
     * @throws ErrnoException with {@code EINVAL} if the address is NULL
     */
    public static void setInt(long target, int value) {
        at(target, Integer.BYTES).set(ValueLayout.JAVA_INT, 0, value);
    }

    /**
     * Returns the memory range at an address that the caller has passed. The range is not checked:
     * an access to unmapped memory crashes the JVM.
     *
     * @throws ErrnoException with {@code EINVAL} if the address is NULL
     */
    public static MemorySegment at(long address, long bytes) {
        ErrnoException.throwIf(address == 0, Errno.EINVAL);
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }
}
