package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.EceOptions;

/**
 * The messages that an {@code rdma_cm_id} exchanges with its peer: a connection handshake, or one
 * side of a SIDR exchange. Guarded by the lock of {@link ConnectionExports}. The default methods
 * are operations that only some exchanges support; they fail with {@code EINVAL}.
 */
interface IdentifierExchange {

    /**
     * Accepts the request of the peer, or confirms the reply of the peer if {@code parameters} is
     * NULL.
     *
     * @param parameters the address of an {@code rdma_conn_param}, or NULL
     */
    default void accept(long parameters) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Rejects the request or the reply of the peer.
     *
     * @param reason a code of {@link org.jrdma.soft.roce.connection.RejectionReason}; ignored by a
     *     SIDR exchange, whose protocol has only one code for a rejection
     */
    default void reject(int reason, long privateData, byte length) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** The ECE options of the peer. */
    default EceOptions peersEnhancement() {
        return EceOptions.NONE;
    }

    /** Disconnects, or replies to the disconnect request of the peer. */
    default void disconnect() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Establishes the connection because the queue pair has received a packet, although the
     * confirmation of the peer has not arrived.
     */
    default void establish() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Fills an {@code ibv_qp_attr} with the attributes for a transition of the queue pair to a
     * state.
     *
     * @param state the state, an {@code IBV_QPS_} code
     * @return the mask of the attributes
     */
    int initialize(MemorySegment attributes, int state);

    /** Ends the exchange because the program destroys the {@code rdma_cm_id}. */
    void close();

    /**
     * Throws an {@link ErrnoException} with {@code EINVAL} if an operation was not valid in the
     * current state.
     *
     * @param valid the result of the operation
     */
    static void requireValid(boolean valid) {
        ErrnoException.throwIf(!valid, Errno.EINVAL);
    }
}
