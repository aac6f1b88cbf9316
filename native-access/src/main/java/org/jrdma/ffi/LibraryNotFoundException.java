package org.jrdma.ffi;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a native library is not installed or cannot be opened. The message lists the places
 * that were searched and the package that contains the library.
 */
public final class LibraryNotFoundException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message names the library and the fix. */
    public LibraryNotFoundException(String message) {
        this(message, null);
    }

    /**
     * Creates an exception whose message names the library, the places that were searched, and the
     * fix.
     */
    public LibraryNotFoundException(String message, @Nullable Throwable cause) {
        super(message, 0, cause);
    }
}
