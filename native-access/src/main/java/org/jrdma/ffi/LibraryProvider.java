package org.jrdma.ffi;

import java.lang.foreign.SymbolLookup;

/**
 * A native library that is not opened from a file, such as a library written in Java or a symbol
 * lookup prepared by a test.
 *
 * <p>The symbols may be upcall stubs: function pointers to Java code. A stub must stay valid as
 * long as the JVM runs, must not throw an exception, and must not block.
 */
public interface LibraryProvider {

    /** Returns the name of the library for messages, such as {@code roce-soft}. */
    String name();

    /**
     * Returns the symbols of the library. The symbol of a function that the library does not
     * support is absent, as in an older version of a C library.
     */
    SymbolLookup symbols();

    /**
     * Returns a message about the last failed call of the current thread, in sentences for users,
     * which supplements the error number; empty if there is none.
     */
    default String explanation() {
        return "";
    }
}
