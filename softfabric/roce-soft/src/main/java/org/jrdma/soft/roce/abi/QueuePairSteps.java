package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.connection.Conversation;

/** How queue pairs get to their states, as the connection manager says: an {@code ibv_qp_attr}. */
final class QueuePairSteps {

    private static final int TO_INIT =
            rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_PKEY_INDEX() | rdma_h.IBV_QP_PORT();

    private QueuePairSteps() {}

    /** To INIT, before it is known what the peer may do. Returns the mask. */
    static int beforeConversation(MemorySegment attributes, boolean ofDatagrams, int queueKey) {
        toInit(attributes, 0);
        if (ofDatagrams) {
            ibv_qp_attr.qkey(attributes, queueKey);
            return TO_INIT | rdma_h.IBV_QP_QKEY();
        }
        return TO_INIT | rdma_h.IBV_QP_ACCESS_FLAGS();
    }

    private static void toInit(MemorySegment attributes, int access) {
        ibv_qp_attr.pkey_index(attributes, (short) 0);
        ibv_qp_attr.port_num(attributes, (byte) ContextObject.PORT);
        ibv_qp_attr.qp_access_flags(attributes, access);
    }

    /**
     * To a state. Returns the mask.
     *
     * @param acknowledgeTimeout of the program's own choice; below zero for none
     * @throws Refusal if it is too early, or there is no such step
     */
    static int of(
            Conversation conversation,
            int trafficClass,
            int acknowledgeTimeout,
            MemorySegment attributes,
            int state) {
        if (state == rdma_h.IBV_QPS_INIT()) {
            var access = rdma_h.IBV_ACCESS_REMOTE_WRITE();
            if (conversation.responderResources() > 0) {
                access |= rdma_h.IBV_ACCESS_REMOTE_READ() | rdma_h.IBV_ACCESS_REMOTE_ATOMIC();
            }
            toInit(attributes, access);
            return TO_INIT | rdma_h.IBV_QP_ACCESS_FLAGS();
        }
        var peers = conversation.peers();
        if (peers == null) {
            throw new Refusal(Errno.EINVAL);
        }
        if (state == rdma_h.IBV_QPS_RTR()) {
            ConnectionParameterCodec.address(
                    conversation.remote(), trafficClass, ibv_qp_attr.ah_attr(attributes));
            ibv_qp_attr.path_mtu(attributes, conversation.request().path().mtu());
            ibv_qp_attr.dest_qp_num(attributes, peers.queuePair());
            ibv_qp_attr.rq_psn(attributes, conversation.sequence());
            ibv_qp_attr.max_dest_rd_atomic(attributes, reads(conversation.responderResources()));
            ibv_qp_attr.min_rnr_timer(attributes, (byte) 0);
            return rdma_h.IBV_QP_STATE()
                    | rdma_h.IBV_QP_AV()
                    | rdma_h.IBV_QP_PATH_MTU()
                    | rdma_h.IBV_QP_DEST_QPN()
                    | rdma_h.IBV_QP_RQ_PSN()
                    | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC()
                    | rdma_h.IBV_QP_MIN_RNR_TIMER();
        }
        if (state == rdma_h.IBV_QPS_RTS()) {
            ibv_qp_attr.sq_psn(attributes, peers.sequence());
            ibv_qp_attr.timeout(
                    attributes,
                    (byte)
                            (acknowledgeTimeout < 0
                                    ? conversation.acknowledgeTimeout()
                                    : acknowledgeTimeout));
            ibv_qp_attr.retry_cnt(attributes, (byte) conversation.request().retries());
            ibv_qp_attr.rnr_retry(attributes, (byte) conversation.notReadyRetries());
            ibv_qp_attr.max_rd_atomic(attributes, reads(conversation.initiatorDepth()));
            return rdma_h.IBV_QP_STATE()
                    | rdma_h.IBV_QP_SQ_PSN()
                    | rdma_h.IBV_QP_TIMEOUT()
                    | rdma_h.IBV_QP_RETRY_CNT()
                    | rdma_h.IBV_QP_RNR_RETRY()
                    | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();
        }
        throw new Refusal(Errno.EINVAL);
    }

    /** A peer may ask for more than there is. */
    private static byte reads(int wanted) {
        return (byte) Math.min(wanted, DeviceFacts.MAX_READS);
    }
}
