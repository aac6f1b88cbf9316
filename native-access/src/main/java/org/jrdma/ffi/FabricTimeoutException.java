package org.jrdma.ffi;

/**
 * A deadline passed first. What was waited for may still happen: a time-out stops the waiting, not
 * the work.
 */
public final class FabricTimeoutException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Names what did not happen, and in which time. */
    public FabricTimeoutException(String message) {
        super(message);
    }
}
