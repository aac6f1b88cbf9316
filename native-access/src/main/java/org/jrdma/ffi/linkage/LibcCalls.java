package org.jrdma.ffi.linkage;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;

/**
 * Calls of the machine's C library. They skip the stack check of {@link Downcalls}, because this
 * library is never written in Java. Software libraries also use these calls: the stack was checked
 * when the software library was called.
 */
public final class LibcCalls {

    private LibcCalls() {}

    static MemorySegment symbol(String name) {
        return Linker.nativeLinker().defaultLookup().findOrThrow(name);
    }

    /** Makes a call like {@link Downcalls#call}, without the stack check. */
    public static <T> T call(Downcalls.Call<T> call) {
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }
}
