package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/** The failure of a SISCI function, with an error code. */
public final class SciException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int code;

    public SciException(int code) {
        this(code, "");
    }

    /**
     * Creates an exception with a message.
     *
     * @param explanation the message, with details that the error code does not express
     */
    public SciException(int code, String explanation) {
        super(explanation, null, false, false);
        this.code = code;
    }

    static SciException of(FabricException failure) {
        var code =
                switch (failure.code()) {
                    case Errno.ENOSPC, Errno.ENOMEM, Errno.EMFILE, Errno.ENFILE -> SCI_ERR_NOSPC();
                    default -> SCI_ERR_SYSTEM();
                };
        return new SciException(code, String.valueOf(failure.getMessage()));
    }

    /** An operation that may fail because of a system call. */
    @FunctionalInterface
    interface HostCall<T> {
        T call() throws FabricException;
    }

    /** Runs an operation and translates its {@link FabricException} to a SISCI error code. */
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

    /** Returns the error code for a failure. Allocates no memory. */
    public static int codeOf(Throwable failure) {
        // A switch would allocate memory on its first use.
        if (failure instanceof SciException refusal) {
            return refusal.code;
        }
        return failure instanceof OutOfMemoryError ? SCI_ERR_API_NOSPC() : SCI_ERR_SYSTEM();
    }

    public int code() {
        return code;
    }
}
