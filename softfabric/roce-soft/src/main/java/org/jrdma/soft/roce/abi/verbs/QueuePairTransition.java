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
 * The steps between the states of a queue pair, with the attributes, as C's mask, that each type
 * must and may name: those of the kernel, of which alternate paths and their migration are left
 * out, as there is one port. To RESET and, except from there, to ERROR it can go from everywhere,
 * with no attributes.
 */
enum QueuePairTransition {
    RESET_TO_INIT(
            RESET,
            INITIALIZED,
            each(
                    must(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_ACCESS_FLAGS()),
                    must(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_QKEY()))),
    INIT_TO_INIT(
            INITIALIZED,
            INITIALIZED,
            each(
                    may(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_ACCESS_FLAGS()),
                    may(IBV_QP_PKEY_INDEX(), IBV_QP_PORT(), IBV_QP_QKEY()))),
    INIT_TO_RTR(
            INITIALIZED,
            READY_TO_RECEIVE,
            each(
                    must(path(), responder()).orMay(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    must(path()).orMay(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    may(IBV_QP_PKEY_INDEX(), IBV_QP_QKEY()),
                    must(path()).orMay(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()),
                    must(path(), responder()).orMay(IBV_QP_ACCESS_FLAGS(), IBV_QP_PKEY_INDEX()))),
    RTR_TO_RTS(
            READY_TO_RECEIVE,
            READY_TO_SEND,
            each(
                    must(requester(), IBV_QP_SQ_PSN())
                            .orMay(
                                    IBV_QP_CUR_STATE(),
                                    IBV_QP_ACCESS_FLAGS(),
                                    IBV_QP_MIN_RNR_TIMER()),
                    must(IBV_QP_SQ_PSN()).orMay(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    must(IBV_QP_SQ_PSN()).orMay(IBV_QP_CUR_STATE(), IBV_QP_QKEY()),
                    must(requester(), IBV_QP_SQ_PSN())
                            .orMay(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    must(IBV_QP_TIMEOUT(), IBV_QP_SQ_PSN())
                            .orMay(
                                    IBV_QP_CUR_STATE(),
                                    IBV_QP_ACCESS_FLAGS(),
                                    IBV_QP_MIN_RNR_TIMER()))),
    RTS_TO_RTS(READY_TO_SEND, READY_TO_SEND, whileSending()),
    RTS_TO_SQD(
            READY_TO_SEND,
            SEND_QUEUE_DRAINED,
            each(may(IBV_QP_EN_SQD_ASYNC_NOTIFY()), may(IBV_QP_EN_SQD_ASYNC_NOTIFY()))),
    SQD_TO_RTS(SEND_QUEUE_DRAINED, READY_TO_SEND, whileSending()),
    SQE_TO_RTS(
            SEND_QUEUE_ERROR,
            READY_TO_SEND,
            each(
                    may(), // a reliable one is never in this state
                    may(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS()),
                    may(IBV_QP_CUR_STATE(), IBV_QP_QKEY()),
                    may(),
                    may())),
    SQD_TO_SQD(
            SEND_QUEUE_DRAINED,
            SEND_QUEUE_DRAINED,
            each(
                    may(IBV_QP_PORT(), requester(), reroute(), IBV_QP_MIN_RNR_TIMER()),
                    may(reroute()),
                    may(IBV_QP_PKEY_INDEX(), IBV_QP_QKEY()),
                    may(IBV_QP_PORT(), requester(), reroute()),
                    may(IBV_QP_PORT(), IBV_QP_TIMEOUT(), reroute(), IBV_QP_MIN_RNR_TIMER())));

    private final QueuePairState from;
    private final QueuePairState to;

    @SuppressWarnings("ImmutableEnumChecker") // made by Map.of
    private final Map<QueuePairKind, Attributes> attributes;

    QueuePairTransition(
            QueuePairState from, QueuePairState to, Map<QueuePairKind, Attributes> attributes) {
        this.from = from;
        this.to = to;
        this.attributes = attributes;
    }

    private record Attributes(int required, int optional) {

        Attributes orMay(int... bits) {
            return new Attributes(required, or(bits));
        }

        boolean permit(int mask) {
            return (mask & required) == required && (mask & ~(required | optional)) == 0;
        }
    }

    private static int path() {
        return IBV_QP_AV() | IBV_QP_PATH_MTU() | IBV_QP_DEST_QPN() | IBV_QP_RQ_PSN();
    }

    private static int responder() {
        return IBV_QP_MAX_DEST_RD_ATOMIC() | IBV_QP_MIN_RNR_TIMER();
    }

    private static int requester() {
        return IBV_QP_TIMEOUT()
                | IBV_QP_RETRY_CNT()
                | IBV_QP_RNR_RETRY()
                | IBV_QP_MAX_QP_RD_ATOMIC();
    }

    private static int reroute() {
        return IBV_QP_AV() | IBV_QP_ACCESS_FLAGS() | IBV_QP_PKEY_INDEX();
    }

    private static Attributes must(int... bits) {
        return new Attributes(or(bits), 0);
    }

    private static Attributes may(int... bits) {
        return new Attributes(0, or(bits));
    }

    private static int or(int... bits) {
        var mask = 0;
        for (var bit : bits) {
            mask |= bit;
        }
        return mask;
    }

    private static Map<QueuePairKind, Attributes> each(
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

    /** Where all connections have the same. */
    private static Map<QueuePairKind, Attributes> each(Attributes connected, Attributes datagram) {
        return each(connected, connected, datagram, connected, connected);
    }

    private static Map<QueuePairKind, Attributes> whileSending() {
        var receiving = may(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS(), IBV_QP_MIN_RNR_TIMER());
        var others = may(IBV_QP_CUR_STATE(), IBV_QP_ACCESS_FLAGS());
        return each(receiving, others, may(IBV_QP_CUR_STATE(), IBV_QP_QKEY()), others, receiving);
    }

    /** Whether a queue pair may go so, naming these attributes. */
    static boolean permits(QueuePairKind kind, QueuePairState from, QueuePairState to, int mask) {
        var changes = mask & ~IBV_QP_STATE();
        if (to == RESET || (to == ERROR && from != RESET)) {
            return changes == 0;
        }
        for (var step : values()) {
            if (step.from == from && step.to == to) {
                return step.attributes.get(kind).permit(changes);
            }
        }
        return false;
    }
}
