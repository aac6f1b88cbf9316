package org.jrdma.ffi;

/**
 * The library found, or the device driver behind it, does not have the function that was asked for.
 */
public final class UnsupportedByLibraryException extends FabricException {

    private static final long serialVersionUID = 1L;

    /** Says which function is missing where, and the number the system answered with, or 0. */
    public UnsupportedByLibraryException(String message, int code) {
        super(message, code, null);
    }
}
