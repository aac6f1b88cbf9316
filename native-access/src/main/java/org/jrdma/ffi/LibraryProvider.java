package org.jrdma.ffi;

import java.lang.foreign.SymbolLookup;

/**
 * A library that is not opened from a file: one written in Java, or a symbol look-up that a test
 * prepared.
 *
 * <p>The symbols may be upcall stubs. A stub must stay valid for as long as the JVM runs, must let
 * no exception out, and must not wait.
 */
public interface LibraryProvider {

    /** What to call it in messages, as {@code roce-soft}. */
    String name();

    /** The symbols it has. A symbol it lacks is absent, as it would be from an older library. */
    SymbolLookup symbols();

    /**
     * What it knows of the failure of the current thread's last call beside the error number, in
     * sentences for its user; empty where that is nothing.
     */
    default String explanation() {
        return "";
    }
}
