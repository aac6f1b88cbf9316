package org.jrdma.ffi;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a wait reaches its deadline. Unless the method that throws it specifies otherwise, the
 * timeout ends only the wait: the operation that the thread waited for continues and may still
 * complete.
 */
public final class FabricTimeoutException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message contains the missing event and the timeout. */
    public FabricTimeoutException(String message) {
        super(message);
    }

    /**
     * Creates an exception for a wait during which attempts failed.
     *
     * @param last the last failure; null if there was none
     */
    public FabricTimeoutException(String message, @Nullable Throwable last) {
        super(message, 0, last);
    }
}
