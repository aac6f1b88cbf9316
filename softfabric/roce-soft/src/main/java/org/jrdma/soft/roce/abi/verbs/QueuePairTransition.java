package org.jrdma.soft.roce.abi.verbs;

import static org.jrdma.abi.rdma.rdma_h.IBV_QP_ACCESS_FLAGS;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_AV;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_CUR_STATE;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_DEST_QPN;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_MAX_QP_RD_ATOMIC;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_MIN_RNR_TIMER;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_PATH_MTU;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_PKEY_INDEX;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_PORT;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_QKEY;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_RETRY_CNT;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_RNR_RETRY;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_RQ_PSN;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_SQ_PSN;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_STATE;
import static org.jrdma.abi.rdma.rdma_h.IBV_QP_TIMEOUT;
import static org.jrdma.soft.roce.engine.QueuePairState.ERROR;
import static org.jrdma.soft.roce.engine.QueuePairState.INITIALIZED;
import static org.jrdma.soft.roce.engine.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.soft.roce.engine.QueuePairState.READY_TO_SEND;
import static org.jrdma.soft.roce.engine.QueuePairState.RESET;
import static org.jrdma.soft.roce.engine.QueuePairState.SEND_QUEUE_DRAINED;
import static org.jrdma.soft.roce.engine.QueuePairState.SEND_QUEUE_ERROR;

import java.util.Map;
import org.jrdma.soft.roce.engine.QueuePairState;

/**
 * The state transitions that {@code ibv_modify_qp} permits. For each transition and each type of
 * queue pair, this table contains the mask of the required attributes and the mask of the optional
 * attributes. The table is that of the Linux kernel, except that the attributes of alternate paths
 * and path migration are not permitted, because a device has only one port.
 *
 * <p>The table does not contain transitions to RESET, which are permitted from every state, and to
 * ERROR, which are permitted from every state except RESET. These transitions take no other
 * attributes.
 */
enum QueuePairTransition {
    RESET_TO_INIT(
            RESET,
            INITIALIZED,
            byKind(
                    required(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_ACCESS_FLAGS()),
                    required(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_QKEY()))),
    INIT_TO_INIT(
            INITIALIZED,
            INITIALIZED,
            byKind(
                    optional(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_ACCESS_FLAGS()),
                    optional(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_QKEY()))),
    INIT_TO_RTR(
            INITIALIZED,
            READY_TO_RECEIVE,
            byKind(
                    required(path(), responder())
                            .optional(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    required(path()).optional(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    optional(IBV_QP_PKEY_INDEX(), IBV_QP_QKEY()),
                    required(path()).optional(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    required(path(), responder())
                            .optional(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()))),
    RTR_TO_RTS(
            READY_TO_RECEIVE,
            READY_TO_SEND,
            byKind(
                    required(requester(), IBV_QP_SQ_PSN())
                            .optional(
                                    IBV_QP_CUR_STATE(),
                                    IBV_QP_ACCESS_FLAGS(),
                                    IBV_QP_MIN_RNR_TIMER()),
                    required(IBV_QP_SQ_PSN()).optional(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    required(IBV_QP_SQ_PSN()).optional(IBV_QP_CUR_STATE(), IBV_QP_QKEY()),
                    required(requester(), IBV_QP_SQ_PSN())
                            .optional(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    required(IBV_QP_TIMEOUT(), IBV_QP_SQ_PSN())
                            .optional(
                                    IBV_QP_CUR_STATE(),
                                    IBV_QP_ACCESS_FLAGS(),
                                    IBV_QP_MIN_RNR_TIMER()))),
    RTS_TO_RTS(READY_TO_SEND, READY_TO_SEND, whileSending()),
    RTS_TO_SQD(
            READY_TO_SEND,
            SEND_QUEUE_DRAINED,
            byKind(optional(IBV_QP_EN_SQD_ASYNC_NOTIFY()), optional(IBV_QP_EN_SQD_ASYNC_NOTIFY()))),
    SQD_TO_RTS(SEND_QUEUE_DRAINED, READY_TO_SEND, whileSending()),
    SQE_TO_RTS(
            SEND_QUEUE_ERROR,
            READY_TO_SEND,
            byKind(
                    optional(), // An RC queue pair never enters the state SQE.
                    optional(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    optional(IBV_QP_CUR_STATE(), IBV_QP_QKEY()),
                    optional(),
                    optional())),
    SQD_TO_SQD(
            SEND_QUEUE_DRAINED,
            SEND_QUEUE_DRAINED,
            byKind(
                    optional(IBV_QP_PORT(), requester(), pathChange(), IBV_QP_MIN_RNR_TIMER()),
                    optional(pathChange()),
                    optional(IBV_QP_PKEY_INDEX(), IBV_QP_QKEY()),
                    optional(IBV_QP_PORT(), requester(), pathChange()),
                    optional(
                            IBV_QP_PORT(),
                            IBV_QP_TIMEOUT(),
                            pathChange(),
                            IBV_QP_MIN_RNR_TIMER())));

    private final QueuePairState from;
    private final QueuePairState to;

    @SuppressWarnings("ImmutableEnumChecker") // immutable, because Map.of creates it
    private final Map<QueuePairKind, Attributes> attributes;

    QueuePairTransition(
            QueuePairState from, QueuePairState to, Map<QueuePairKind, Attributes> attributes) {
        this.from = from;
        this.to = to;
        this.attributes = attributes;
    }

    private record Attributes(int requiredMask, int optionalMask) {

        Attributes optional(int... bits) {
            return new Attributes(requiredMask, union(bits));
        }

        boolean permit(int mask) {
            return (mask & requiredMask) == requiredMask
                    && (mask & ~(requiredMask | optionalMask)) == 0;
        }
    }

    /** The attributes that describe the path to the peer. */
    private static int path() {
        return IBV_QP_AV() | IBV_QP_PATH_MTU() | IBV_QP_DEST_QPN() | IBV_QP_RQ_PSN();
    }

    /** The attributes of the responder of a reliable connection. */
    private static int responder() {
        return IBV_QP_MAX_DEST_RD_ATOMIC() | IBV_QP_MIN_RNR_TIMER();
    }

    /** The attributes of the requester of a reliable connection. */
    private static int requester() {
        return IBV_QP_TIMEOUT()
                | IBV_QP_RETRY_CNT()
                | IBV_QP_RNR_RETRY()
                | IBV_QP_MAX_QP_RD_ATOMIC();
    }

    /** The attributes that may be changed while the send queue is drained. */
    private static int pathChange() {
        return IBV_QP_AV() | IBV_QP_ACCESS_FLAGS() | IBV_QP_PKEY_INDEX();
    }

    private static Attributes required(int... bits) {
        return new Attributes(union(bits), 0);
    }

    private static Attributes optional(int... bits) {
        return new Attributes(0, union(bits));
    }

    private static int union(int... bits) {
        var mask = 0;
        for (var bit : bits) {
            mask |= bit;
        }
        return mask;
    }

    private static Map<QueuePairKind, Attributes> byKind(
            Attributes reliable,
            Attributes unreliable,
            Attributes datagram,
            Attributes extendedSender,
            Attributes extendedReceiver) {
        return Map.of(
                QueuePairKind.RELIABLE, reliable,
                QueuePairKind.UNRELIABLE, unreliable,
                QueuePairKind.DATAGRAM, datagram,
                QueuePairKind.EXTENDED_SENDER, extendedSender,
                QueuePairKind.EXTENDED_RECEIVER, extendedReceiver);
    }

    /** Returns a table with the same attributes for all connected types. */
    private static Map<QueuePairKind, Attributes> byKind(
            Attributes connected, Attributes datagram) {
        return byKind(connected, connected, datagram, connected, connected);
    }

    /** Returns the table for the transitions to RTS from RTS and from SQD. */
    private static Map<QueuePairKind, Attributes> whileSending() {
        var receiving = optional(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS(), IBV_QP_MIN_RNR_TIMER());
        var others = optional(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS());
        return byKind(
                receiving, others, optional(IBV_QP_CUR_STATE(), IBV_QP_QKEY()), others, receiving);
    }

    /**
     * Returns true if the transition is permitted for a type of queue pair with exactly the
     * attributes in a mask.
     */
    static boolean permits(QueuePairKind kind, QueuePairState from, QueuePairState to, int mask) {
        var changes = mask & ~IBV_QP_STATE();
        if (to == RESET || (to == ERROR && from != RESET)) {
            return changes == 0;
        }
        for (var transition : values()) {
            if (transition.from == from && transition.to == to) {
                return transition.attributes.get(kind).permit(changes);
            }
        }
        return false;
    }
}
