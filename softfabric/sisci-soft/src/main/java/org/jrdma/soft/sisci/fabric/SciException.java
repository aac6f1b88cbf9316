package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/** A failure of a function, with an error code of SISCI. */
public final class SciException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;

    /** A failure that the code describes. */
    public SciException(int code) {
        this(code, "");
    }

    /**
     * A failure with an explanation.
     *
     * @param explanation what the code does not say
     */
    public SciException(int code, String explanation) {
        super(explanation, null, false, false);
        this.code = code;
    }

    /** A failure of the operating system. */
    static SciException of(FabricException failure) {
        var code =
                switch (failure.code()) {
                    case Errno.ENOSPC, Errno.ENOMEM, Errno.EMFILE, Errno.ENFILE -> SCI_ERR_NOSPC();
                    default -> SCI_ERR_SYSTEM();
                };
        return new SciException(code, String.valueOf(failure.getMessage()));
    }

    /** An operation that the operating system may fail. */
    @FunctionalInterface
    interface HostCall<T> {
        T call() throws FabricException;
    }

    /** Runs an operation, whose failure gets an error code. */
    static <T> T translate(HostCall<T> call) {
        try {
            return call.call();
        } catch (FabricException e) {
            throw of(e);
        }
    }

    /** Throws an exception if a condition holds. */
    public static void throwIf(boolean condition, int code) {
        if (condition) {
            throw new SciException(code);
        }
    }

    /** The error code. */
    public int code() {
        return code;
    }
}
