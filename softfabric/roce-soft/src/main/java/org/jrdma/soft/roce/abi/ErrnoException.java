package org.jrdma.soft.roce.abi;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/**
 * Thrown inside an implementation of a C function if the function fails. {@link ErrorConvention}
 * converts the exception to the function's error convention, so it never reaches the C caller. Has
 * no stack trace.
 */
public final class ErrnoException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    public ErrnoException(int errno) {
        this(errno, "");
    }

    /**
     * Creates an exception with a message, which the program can query with {@link
     * ErrorConvention#explanation}.
     *
     * @param explanation the message, with details that the errno does not express
     */
    public ErrnoException(int errno, String explanation) {
        super(explanation, null, false, false);
        this.errno = errno == 0 ? Errno.EIO : errno; // 0 would indicate success to C callers
    }

    /** Throws an {@code ErrnoException} if a condition is true. */
    public static void throwIf(boolean condition, int errno) {
        if (condition) {
            throw new ErrnoException(errno);
        }
    }

    /** An operation that may fail with a {@link FabricException}. */
    public interface FabricCall<T> {
        T call() throws FabricException;
    }

    /**
     * Runs an operation and converts its {@link FabricException} to an {@code ErrnoException} with
     * the same error code and message.
     */
    public static <T> T convert(FabricCall<T> call) {
        try {
            return call.call();
        } catch (FabricException e) {
            throw new ErrnoException(e.code(), e.getMessage());
        }
    }

    public int errno() {
        return errno;
    }
}
