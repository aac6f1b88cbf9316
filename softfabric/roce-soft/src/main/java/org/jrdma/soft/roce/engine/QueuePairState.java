package org.jrdma.soft.roce.engine;

/** The states of a queue pair, in libibverbs' order. */
public enum QueuePairState {
    RESET,
    INITIALIZED,
    READY_TO_RECEIVE,
    READY_TO_SEND,
    SEND_QUEUE_DRAINED,
    SEND_QUEUE_ERROR,
    ERROR;

    /** Whether requests of the peer are carried out. */
    boolean receives() {
        return this != RESET && this != INITIALIZED && this != ERROR;
    }

    /** Whether work begun is carried on. */
    boolean sends() {
        return this == READY_TO_SEND || this == SEND_QUEUE_DRAINED;
    }
}
