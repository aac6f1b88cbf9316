package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.Connection;

/**
 * Fills the {@code ibv_qp_attr} of {@code rdma_init_qp_attr} with the attributes for the transition
 * of a queue pair to the state INIT, RTR or RTS.
 */
final class QueuePairTransitionAttributes {

    /** The queue key of all datagram queue pairs in the UDP port space. */
    static final int QUEUE_KEY = rdma_h.RDMA_UDP_QKEY();

    private static final int TO_INIT =
            rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_PKEY_INDEX() | rdma_h.IBV_QP_PORT();

    private QueuePairTransitionAttributes() {}

    /**
     * Fills an {@code ibv_qp_attr} with the attributes for the INIT state if no connection exists
     * yet.
     *
     * @return the mask of the attributes
     * @throws ErrnoException with {@code EINVAL} if the state is not INIT
     */
    static int beforeConnection(MemorySegment attributes, int state) {
        requireInit(state);
        toInit(attributes, 0);
        return TO_INIT | rdma_h.IBV_QP_ACCESS_FLAGS();
    }

    /**
     * Fills an {@code ibv_qp_attr} with the attributes for the INIT state of a datagram queue pair.
     *
     * @return the mask of the attributes
     * @throws ErrnoException with {@code EINVAL} if the state is not INIT
     */
    static int ofDatagrams(MemorySegment attributes, int state) {
        requireInit(state);
        toInit(attributes, 0);
        ibv_qp_attr.qkey(attributes, QUEUE_KEY);
        return TO_INIT | rdma_h.IBV_QP_QKEY();
    }

    private static void requireInit(int state) {
        ErrnoException.throwIf(state != rdma_h.IBV_QPS_INIT(), Errno.EINVAL);
    }

    private static void toInit(MemorySegment attributes, int access) {
        ibv_qp_attr.pkey_index(attributes, (short) 0);
        ibv_qp_attr.port_num(attributes, (byte) DeviceLimits.PORT);
        ibv_qp_attr.qp_access_flags(attributes, access);
    }

    /**
     * Fills an {@code ibv_qp_attr} with the attributes for a state of a connected queue pair.
     *
     * @return the mask of the attributes
     * @throws ErrnoException with {@code EINVAL} if the parameters of the peer are unknown, or the
     *     state is not INIT, RTR or RTS
     */
    static int of(
            Connection connection, IdentifierOptions options, MemorySegment attributes, int state) {
        var negotiated = connection.negotiated();
        var transport = connection.request().transport();
        var unreliable = transport == ConnectRequest.UNRELIABLE;
        var receives = transport != ConnectRequest.EXTENDED || !connection.isActive();
        var sends = transport != ConnectRequest.EXTENDED || connection.isActive();
        if (state == rdma_h.IBV_QPS_INIT()) {
            var access = rdma_h.IBV_ACCESS_REMOTE_WRITE();
            if (negotiated.responderResources() > 0) {
                access |= rdma_h.IBV_ACCESS_REMOTE_READ() | rdma_h.IBV_ACCESS_REMOTE_ATOMIC();
            }
            toInit(attributes, access);
            return TO_INIT | rdma_h.IBV_QP_ACCESS_FLAGS();
        }
        var peers = negotiated.peers();
        if (peers == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        if (state == rdma_h.IBV_QPS_RTR()) {
            ConnectionParameterCodec.address(
                    connection.remote(),
                    options.trafficClass,
                    options.flowLabel,
                    ibv_qp_attr.ah_attr(attributes));
            ibv_qp_attr.path_mtu(attributes, connection.request().path().mtu());
            ibv_qp_attr.dest_qp_num(attributes, peers.queuePair());
            ibv_qp_attr.rq_psn(attributes, connection.sequence());
            var mask =
                    rdma_h.IBV_QP_STATE()
                            | rdma_h.IBV_QP_AV()
                            | rdma_h.IBV_QP_PATH_MTU()
                            | rdma_h.IBV_QP_DEST_QPN()
                            | rdma_h.IBV_QP_RQ_PSN();
            if (unreliable || !receives) {
                return mask;
            }
            ibv_qp_attr.max_dest_rd_atomic(attributes, reads(negotiated.responderResources()));
            ibv_qp_attr.min_rnr_timer(attributes, (byte) 0);
            return mask | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC() | rdma_h.IBV_QP_MIN_RNR_TIMER();
        }
        if (state == rdma_h.IBV_QPS_RTS()) {
            ibv_qp_attr.sq_psn(attributes, peers.sequence());
            var mask = rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_SQ_PSN();
            if (unreliable) {
                return mask;
            }
            ibv_qp_attr.timeout(
                    attributes,
                    (byte)
                            (options.acknowledgeTimeout < 0
                                    ? negotiated.acknowledgeTimeout()
                                    : options.acknowledgeTimeout));
            mask |= rdma_h.IBV_QP_TIMEOUT();
            if (!sends) {
                return mask;
            }
            ibv_qp_attr.retry_cnt(attributes, (byte) connection.request().retries());
            ibv_qp_attr.rnr_retry(attributes, (byte) negotiated.notReadyRetries());
            ibv_qp_attr.max_rd_atomic(attributes, reads(negotiated.initiatorDepth()));
            return mask
                    | rdma_h.IBV_QP_RETRY_CNT()
                    | rdma_h.IBV_QP_RNR_RETRY()
                    | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();
        }
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Limits the number of concurrent READs and atomics of the peer to the maximum of the device.
     */
    private static byte reads(int requested) {
        return (byte) Math.min(requested, DeviceLimits.MAX_READS);
    }
}
