package org.jrdma.soft.roce.abi;

import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;

/** Path MTUs: C counts them from 1 for 256 bytes to 5 for 4,096. */
public final class PathMtu {

    private static final int SMALLEST = 256;

    private PathMtu() {}

    /** C's number for so many bytes. */
    public static int code(int bytes) {
        return rdma_h.IBV_MTU_256() + Integer.numberOfTrailingZeros(bytes / SMALLEST);
    }

    /**
     * The bytes that C's number stands for.
     *
     * @throws ErrnoException if it stands for none
     */
    public static int bytes(int code) {
        ErrnoException.throwIf(
                code < rdma_h.IBV_MTU_256() || code > rdma_h.IBV_MTU_4096(), Errno.EINVAL);
        return SMALLEST << (code - rdma_h.IBV_MTU_256());
    }
}
