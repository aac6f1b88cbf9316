package org.jrdma.soft.roce.abi;

import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;

/**
 * Converts path MTUs between bytes and the codes of {@code enum ibv_mtu}, which range from 1 for
 * 256 bytes to 5 for 4,096 bytes.
 */
public final class PathMtu {

    private static final int MIN_BYTES = 256;

    private PathMtu() {}

    /** Returns the {@code enum ibv_mtu} code of a path MTU in bytes. */
    public static int code(int bytes) {
        return rdma_h.IBV_MTU_256() + Integer.numberOfTrailingZeros(bytes / MIN_BYTES);
    }

    /**
     * Returns the path MTU in bytes for an {@code enum ibv_mtu} code.
     *
     * @throws ErrnoException with {@code EINVAL} if the code is invalid
     */
    public static int bytes(int code) {
        ErrnoException.throwIf(
                code < rdma_h.IBV_MTU_256() || code > rdma_h.IBV_MTU_4096(), Errno.EINVAL);
        return MIN_BYTES << (code - rdma_h.IBV_MTU_256());
    }
}
