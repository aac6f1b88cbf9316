package org.jrdma.ffi;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a fabric, its library or its driver rejects or fails an operation.
 *
 * <p>The message contains what was attempted with which values, the error that the system reported,
 * and the remedy if it is known.
 */
public class FabricException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /** Creates an exception for a failure that has no error number. */
    public FabricException(String message) {
        this(message, 0, null);
    }

    /** Creates an exception with the error number that the system reported; 0 if there is none. */
    public FabricException(String message, int code, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** The errno or the library's own error code; 0 if there is none. */
    public final int code() {
        return code;
    }
}
