package org.jrdma.verbs.model;

/** What a queue pair does with requests. In C: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** Just made: nothing may be posted. */
    RESET,
    /** Receives may be posted; nothing is received yet. */
    INIT,
    /** It receives. In C: RTR. */
    READY_TO_RECEIVE,
    /** It sends and receives. In C: RTS. */
    READY_TO_SEND,
    /** It finishes what was begun and starts nothing new. In C: SQD. */
    SEND_QUEUE_DRAINED,
    /** A request failed; receiving goes on. Only of unreliable kinds. In C: SQE. */
    SEND_QUEUE_ERROR,
    /** Every request is flushed. In C: ERR. */
    ERROR,
    /** A number that this version does not know. */
    UNKNOWN
}
