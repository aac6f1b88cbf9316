package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/**
 * The errno that native calls capture. Each thread has one memory segment that stores it, created
 * on first use, so that a call does not allocate memory. The errno variable of the C library is
 * never read directly, because system calls of the JVM may have changed it since the native call.
 */
public final class CapturedErrno {

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO =
            LAYOUT.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> SEGMENT =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

    private CapturedErrno() {}

    /**
     * Returns the current thread's segment, to be passed to a handle that {@link
     * Downcalls#capturingErrno} created.
     */
    public static MemorySegment segment() {
        return SEGMENT.get();
    }

    /** Returns the errno of the current thread's last call through a handle that captures errno. */
    public static int value() {
        return (int) ERRNO.get(SEGMENT.get(), 0L);
    }
}
