package org.jrdma.verbs.model;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * A verb that failed: the C function, what it was asked for, the errno it answered with, and advice
 * where there is some.
 */
public class VerbsException extends FabricException {

    private static final long serialVersionUID = 1L;

    private final String function;

    /**
     * A function that the system refused.
     *
     * @param function the C function's name
     * @param attempt what it was asked for, on which device, as {@code for 4,096 bytes on rxe0}
     * @param errno what the system answered
     * @param advice what to do about it, or empty
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

    /** A request that the SDK refuses before it asks the system. */
    public VerbsException(String function, String refusal) {
        super(refusal);
        this.function = function;
    }

    /**
     * What became of something that the system took on.
     *
     * @param function the C function's name
     * @param message what has failed, and why
     * @param code what the system said
     */
    protected VerbsException(String function, String message, int code) {
        super(message, code, null);
        this.function = function;
    }

    /** The C function's name, as {@code ibv_reg_mr}. */
    public final String function() {
        return function;
    }
}
