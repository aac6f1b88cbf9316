package org.jrdma.sisci.model;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * A failure of a function of libsisci. The message has the name of the function, the object of the
 * call, the error, and advice if there is any. {@link #code()} is the library's error code.
 */
public final class SisciException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final String function;
    private final SisciError error;

    /**
     * A function that failed.
     *
     * @param function the C function's name
     * @param subject the object of the call, such as {@code segment 7}; or empty
     * @param code the library's error code
     * @param errno the error of the operating system, which is used for {@code SCI_ERR_SYSTEM}
     * @param text the library's text for the code; or empty
     */
    public SisciException(String function, String subject, int code, int errno, String text) {
        super(message(function, subject, code, errno, text), code, null);
        this.function = function;
        this.error = SisciError.of(function, code);
    }

    /**
     * The failure of an operation that the library had accepted.
     *
     * @param function the C function's name
     * @param message the whole message
     * @param code the library's error code
     */
    public SisciException(String function, String message, int code) {
        super(message, code, null);
        this.function = function;
        this.error = SisciError.of(function, code);
    }

    private static String message(
            String function, String subject, int code, int errno, String text) {
        var error = SisciError.of(function, code);
        var message =
                new StringBuilder(function)
                        .append(" failed")
                        .append(subject.isEmpty() ? "" : " for " + subject)
                        .append(": ")
                        .append(describe(function, code));
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

    /** Returns the name and the number of an error of a function. */
    public static String describe(String function, int code) {
        var error = SisciError.of(function, code);
        return error == SisciError.UNKNOWN
                ? "error 0x%08X".formatted(code)
                : "%s (0x%08X)".formatted(error, code);
    }

    /** Returns the C function's name. */
    public String function() {
        return function;
    }

    /** Returns the meaning of the code. */
    public SisciError error() {
        return error;
    }
}
