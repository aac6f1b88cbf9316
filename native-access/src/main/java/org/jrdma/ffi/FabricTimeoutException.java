package org.jrdma.ffi;

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
     * Creates an exception for a wait that was ended by repeated failures.
     *
     * @param last the last failure
     */
    public FabricTimeoutException(String message, Throwable last) {
        super(message, 0, last);
    }
}
