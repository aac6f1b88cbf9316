package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/**
 * Where a call leaves its errno: one segment for each thread, made on its first use, so that a call
 * allocates nothing. The JVM makes calls of its own in between, so the C library's errno variable
 * itself is never read.
 */
public final class CapturedErrno {

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> SEGMENT =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

    private CapturedErrno() {}

    /** The current thread's segment, for a handle made by {@link Downcalls#capturingErrno}. */
    public static MemorySegment segment() {
        return SEGMENT.get();
    }

    /** What the current thread's last captured call left. */
    public static int value() {
        return (int) ERRNO.get(SEGMENT.get(), 0L);
    }
}
