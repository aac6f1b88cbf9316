package org.jrdma.soft.roce.abi;

import org.jrdma.ffi.Errno;

/** Why a function does not do what its caller asks: an error number of C. */
public final class ErrnoException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    public ErrnoException(int errno) {
        this(errno, "");
    }

    /**
     * @param explanation what the number does not tell
     */
    public ErrnoException(int errno, String explanation) {
        super(explanation, null, false, false);
        this.errno = errno == 0 ? Errno.EIO : errno; // 0 would be success
    }

    public int errno() {
        return errno;
    }
}
