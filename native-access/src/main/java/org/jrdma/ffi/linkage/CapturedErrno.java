package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/**
 * The errno captured by native calls. There is one segment for each thread, created on first use,
 * so that a call does not allocate. The C library's errno variable is never read, because the JVM
 * itself makes system calls between a native call and such a read.
 */
public final class CapturedErrno {

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> SEGMENT =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

    private CapturedErrno() {}

    /** The current thread's segment, for a handle created by {@link Downcalls#capturingErrno}. */
    public static MemorySegment segment() {
        return SEGMENT.get();
    }

    /** The errno of the current thread's last captured call. */
    public static int value() {
        return (int) ERRNO.get(SEGMENT.get(), 0L);
    }
}
