package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;

/** Changes the states of queue pairs that are not connected. */
final class TestQueuePairStates {

    private TestQueuePairStates() {}

    static void toInit(long queuePair) {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, rdma_h.IBV_QPS_INIT());
            ibv_qp_attr.port_num(attributes, (byte) 1);
            QueuePairExports.modify(
                    queuePair,
                    attributes.address(),
                    rdma_h.IBV_QP_STATE()
                            | rdma_h.IBV_QP_PORT()
                            | rdma_h.IBV_QP_PKEY_INDEX()
                            | rdma_h.IBV_QP_ACCESS_FLAGS());
        }
    }

    static void toError(long queuePair) {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_attr.allocate(arena);
            ibv_qp_attr.qp_state(attributes, rdma_h.IBV_QPS_ERR());
            QueuePairExports.modify(queuePair, attributes.address(), rdma_h.IBV_QP_STATE());
        }
    }
}
