package org.jrdma.ffi;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown if a fabric, its library or its driver rejects or fails an operation.
 *
 * <p>The message contains what was attempted with which values, the error that the system reported,
 * and the fix if it is known.
 */
public class FabricException extends IOException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /** Creates an exception for a failure that has no error code. */
    public FabricException(String message) {
        this(message, 0, null);
    }

    /**
     * Creates an exception with the error code that the system or the library reported; 0 if it
     * reported none.
     */
    public FabricException(String message, int code, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** Returns the errno or the library's own error code; 0 if the failure has none. */
    public final int code() {
        return code;
    }
}
