package org.jrdma.verbs.model;

/** The state of a queue pair. In C: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** The queue pair is newly created or was reset. No requests can be posted. */
    RESET,
    /** Receives can be posted, but the queue pair does not receive messages. */
    INIT,
    /** The queue pair receives messages but does not send. In C: {@code IBV_QPS_RTR}. */
    READY_TO_RECEIVE,
    /** The queue pair sends and receives. In C: {@code IBV_QPS_RTS}. */
    READY_TO_SEND,
    /**
     * The queue pair completes the send requests in progress and does not start further send
     * requests. In C: {@code IBV_QPS_SQD}.
     */
    SEND_QUEUE_DRAINED,
    /**
     * A send request has failed, and the queue pair still receives. Only queue pairs of unreliable
     * types enter this state. In C: {@code IBV_QPS_SQE}.
     */
    SEND_QUEUE_ERROR,
    /**
     * The queue pair has failed or was moved to this state. Its other pending requests, and all
     * later ones, complete with the status {@link CompletionStatus#FLUSHED}. In C: {@code
     * IBV_QPS_ERR}.
     */
    ERROR,
    /** A state that this version of the SDK does not know. */
    UNKNOWN
}
