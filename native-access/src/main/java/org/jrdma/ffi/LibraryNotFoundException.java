package org.jrdma.ffi;

import org.jspecify.annotations.Nullable;

/**
 * A native library is not on this machine, or could not be opened. The message lists what was tried
 * and the package that holds it.
 */
public final class LibraryNotFoundException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Says which library, and what to do. */
    public LibraryNotFoundException(String message) {
        this(message, null);
    }

    /** Says which library, where it was looked for, and how to install it. */
    public LibraryNotFoundException(String message, @Nullable Throwable cause) {
        super(message, 0, cause);
    }
}
