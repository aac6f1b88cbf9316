package org.jrdma.ffi.linkage;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/**
 * Calls functions of the machine's C library. The stack check of {@link Downcalls} is not needed,
 * because the C library is never implemented in Java. Software libraries also use this class: the
 * stack was checked when the software library was called.
 */
public final class LibcDowncalls {

    private LibcDowncalls() {}

    static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }

    /** Calls a C function like {@link Downcalls#call}, without the stack check. */
    public static <T> T call(Downcalls.Call<T> call) {
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
