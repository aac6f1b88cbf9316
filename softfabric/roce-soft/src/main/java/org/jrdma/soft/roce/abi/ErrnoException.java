package org.jrdma.soft.roce.abi;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;

/** Thrown to report the failure of a function with an errno. */
public final class ErrnoException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    public ErrnoException(int errno) {
        this(errno, "");
    }

    /**
     * @param explanation details that the errno does not express
     */
    public ErrnoException(int errno, String explanation) {
        super(explanation, null, false, false);
        this.errno = errno == 0 ? Errno.EIO : errno; // 0 would mean success
    }

    /** Throws an exception if a condition holds. */
    public static void throwIf(boolean condition, int errno) {
        if (condition) {
            throw new ErrnoException(errno);
        }
    }

    /** A call that may fail with a {@link FabricException}. */
    public interface FabricCall<T> {
        T call() throws FabricException;
    }

    /** Makes a call and converts its exception. */
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
