package org.jrdma.sisci.model;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * Thrown if a function of libsisci fails. The message contains the name of the function, the object
 * of the call, the error, and advice if available. {@link #code()} is the library's error code.
 */
public final class SisciException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final String function;
    private final SisciError error;

    /**
     * Creates an exception for a function that failed.
     *
     * @param function the name of the C function
     * @param subject the object of the call, such as {@code segment 7}, or an empty string
     * @param code the library's error code
     * @param errno the errno after the call, which the message contains only for {@code
     *     SCI_ERR_SYSTEM}
     * @param text the library's text for the code, or an empty string
     */
    public SisciException(String function, String subject, int code, int errno, String text) {
        this(function, subject, code, SisciError.of(function, code), errno, text);
    }

    /**
     * Creates an exception for a function that failed with a code that only the library defines.
     * Otherwise like the constructor without the parameter {@code error}.
     *
     * @param error the error that the code means in this library
     */
    public SisciException(
            String function, String subject, int code, SisciError error, int errno, String text) {
        super(message(function, subject, code, error, errno, text), code, null);
        this.function = function;
        this.error = error;
    }

    /**
     * Creates an exception for an operation that failed after the library had accepted it.
     *
     * @param function the name of the C function
     * @param message the whole message
     * @param code the library's error code
     */
    public SisciException(String function, String message, int code) {
        super(message, code, null);
        this.function = function;
        this.error = SisciError.of(function, code);
    }

    private static String message(
            String function, String subject, int code, SisciError error, int errno, String text) {
        var message =
                new StringBuilder(function)
                        .append(" failed")
                        .append(subject.isEmpty() ? "" : " for " + subject)
                        .append(": ")
                        .append(describe(error, code));
        if (error == SisciError.SYSTEM && errno != 0) {
            message.append(", ").append(Errno.describe(errno));
        }
        message.append('.');
        if (!text.isEmpty()) {
            message.append(' ').append(text).append(text.endsWith(".") ? "" : ".");
        }
        if (!error.advice().isEmpty()) {
            message.append(' ').append(error.advice());
        }
        return message.toString();
    }

    /**
     * Formats an error code of a function with its name, such as {@code NO_SUCH_SEGMENT
     * (0x4000090C)}, or {@code error 0x40000999} if its name is unknown.
     */
    public static String describe(String function, int code) {
        return describe(SisciError.of(function, code), code);
    }

    private static String describe(SisciError error, int code) {
        return error == SisciError.UNKNOWN
                ? "error 0x%08X".formatted(code)
                : "%s (0x%08X)".formatted(error, code);
    }

    /** Returns the name of the C function that failed. */
    public String function() {
        return function;
    }

    /** Returns the error that the code means for the function. */
    public SisciError error() {
        return error;
    }
}
