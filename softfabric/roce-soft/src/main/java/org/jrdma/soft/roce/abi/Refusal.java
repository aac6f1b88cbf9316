package org.jrdma.soft.roce.abi;

import org.jrdma.ffi.Errno;

/** Why a function does not do what its caller asks: an error number of C. */
final class Refusal extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int errno;

    Refusal(int errno) {
        this(errno, "");
    }

    /**
     * @param explanation what the number does not tell
     */
    Refusal(int errno, String explanation) {
        super(explanation, null, false, false);
        this.errno = errno == 0 ? Errno.EIO : errno; // 0 would be success
    }

    int errno() {
        return errno;
    }
}
