package org.jrdma.ffi;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Something that a fabric, its library or its driver refused or failed to do.
 *
 * <p>The message says what was attempted, with which values, what the system answered, and what to
 * do about it where that is known.
 */
public class FabricException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /** A failure that no system call or library function reported. */
    public FabricException(String message) {
        this(message, 0, null);
    }

    /** A failure with the number that the system gave for it; 0 where it gave none. */
    public FabricException(String message, int code, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /**
     * The number that the system answered with: an errno, or the library's own error code; 0 where
     * there was none.
     */
    public final int code() {
        return code;
    }
}
