package org.jrdma.verbs.model;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * Thrown if a function of libibverbs fails, or if the SDK rejects a call of the function. If the
 * function failed, the message contains its name, the attempted operation, the errno and, for some
 * errors, a fix.
 */
public class VerbsException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final String function;

    /**
     * Creates an exception for a function that failed with an errno.
     *
     * @param function the name of the C function
     * @param attempt the attempted operation and the device, such as {@code for 4,096 bytes on
     *     rxe0}
     * @param errno the error code
     * @param advice the fix, or an empty string
     */
    public VerbsException(String function, String attempt, int errno, String advice) {
        super(
                "%s failed %s: %s.%s"
                        .formatted(
                                function,
                                attempt,
                                Errno.describe(errno),
                                advice.isEmpty() ? "" : " " + advice),
                errno,
                null);
        this.function = function;
    }

    /**
     * Creates an exception for an operation that the SDK rejects without calling the C function.
     *
     * @param function the name of the C function
     * @param refusal the message, with the reason of the rejection
     */
    public VerbsException(String function, String refusal) {
        super(refusal);
        this.function = function;
    }

    /**
     * Creates an exception for an operation that failed after the system had accepted it.
     *
     * @param function the name of the C function
     * @param message the failure and its cause
     * @param code the code that the system reported
     */
    protected VerbsException(String function, String message, int code) {
        super(message, code, null);
        this.function = function;
    }

    /** The name of the C function that failed or was not called, such as {@code ibv_reg_mr}. */
    public final String function() {
        return function;
    }
}
