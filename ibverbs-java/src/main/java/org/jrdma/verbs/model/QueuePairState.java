package org.jrdma.verbs.model;

/** The state of a queue pair. In C: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** Newly created: no requests can be posted. */
    RESET,
    /** Receives can be posted, but no messages arrive yet. */
    INIT,
    /** The queue pair receives. In C: RTR. */
    READY_TO_RECEIVE,
    /** The queue pair sends and receives. In C: RTS. */
    READY_TO_SEND,
    /** The queue pair finishes the requests in progress and starts no others. In C: SQD. */
    SEND_QUEUE_DRAINED,
    /** A send request failed, while receiving continues. Unreliable types only. In C: SQE. */
    SEND_QUEUE_ERROR,
    /** All requests are flushed. In C: ERR. */
    ERROR,
    /** A state that this version does not know. */
    UNKNOWN
}
