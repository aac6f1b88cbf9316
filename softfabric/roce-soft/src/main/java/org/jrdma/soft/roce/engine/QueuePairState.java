package org.jrdma.soft.roce.engine;

/** The states of a queue pair. The codes are those of libibverbs. */
public enum QueuePairState {
    RESET(0),
    INITIALIZED(1),
    READY_TO_RECEIVE(2),
    READY_TO_SEND(3),
    SEND_QUEUE_DRAINED(4),
    SEND_QUEUE_ERROR(5),
    ERROR(6);

    private final int code;

    QueuePairState(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** Returns true if a queue pair in this state executes requests of its peer. */
    public boolean receives() {
        return this != RESET && this != INITIALIZED && this != ERROR;
    }

    /** Returns true if a queue pair in this state processes work requests that have started. */
    boolean sends() {
        return this == READY_TO_SEND || this == SEND_QUEUE_DRAINED;
    }
}
