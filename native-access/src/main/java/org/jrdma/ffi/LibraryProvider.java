package org.jrdma.ffi;

import java.lang.foreign.SymbolLookup;

/**
 * A native library that is not opened from a file, such as a library written in Java or a symbol
 * lookup prepared by a test.
 *
 * <p>The symbols may be upcall stubs. A stub must stay valid as long as the JVM runs, must not
 * throw, and must not block.
 */
public interface LibraryProvider {

    /** The name of the library for messages, such as {@code roce-soft}. */
    String name();

    /** The symbols of the library. An unsupported symbol is absent, as in an older C library. */
    SymbolLookup symbols();

    /**
     * The cause of the current thread's last failed call, beyond its error number, in sentences for
     * users; empty if there is none.
     */
    default String explanation() {
        return "";
    }
}
