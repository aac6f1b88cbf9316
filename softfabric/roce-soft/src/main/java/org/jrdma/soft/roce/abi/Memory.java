package org.jrdma.soft.roce.abi;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;

/** Memory that C passes by its address. */
public final class Memory {

    private Memory() {}

    /**
     * A structure of the caller's.
     *
     * @throws ErrnoException if there is none
     */
    public static MemorySegment at(long address, GroupLayout layout) {
        return at(address, layout.byteSize());
    }

    /** Bytes of the caller's. */
    public static MemorySegment at(long address, long bytes) {
        if (address == 0) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return Downcalls.memoryAt(MemorySegment.ofAddress(address), bytes);
    }
}
