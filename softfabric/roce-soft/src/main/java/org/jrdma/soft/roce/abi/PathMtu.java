package org.jrdma.soft.roce.abi;

import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;

/**
 * Conversion of path MTUs: {@code enum ibv_mtu} has codes from 1 for 256 bytes to 5 for 4,096
 * bytes.
 */
public final class PathMtu {

    private static final int MIN_BYTES = 256;

    private PathMtu() {}

    /** Returns the code of a path MTU. */
    public static int code(int bytes) {
        return rdma_h.IBV_MTU_256() + Integer.numberOfTrailingZeros(bytes / MIN_BYTES);
    }

    /**
     * Returns the path MTU of a code, in bytes.
     *
     * @throws ErrnoException if the code is invalid
     */
    public static int bytes(int code) {
        ErrnoException.throwIf(
                code < rdma_h.IBV_MTU_256() || code > rdma_h.IBV_MTU_4096(), Errno.EINVAL);
        return MIN_BYTES << (code - rdma_h.IBV_MTU_256());
    }
}
