package org.jrdma.soft.roce.engine;

/** The status of a completion. The codes are those of libibverbs. */
public enum CompletionStatus {
    SUCCESS(0),
    LOCAL_LENGTH_ERROR(1),
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    LOCAL_PROTECTION_ERROR(4),
    FLUSHED(5),
    WINDOW_BIND_ERROR(6),
    BAD_RESPONSE(7),
    REMOTE_INVALID_REQUEST(9),
    REMOTE_ACCESS_ERROR(10),
    REMOTE_OPERATION_ERROR(11),
    RETRIES_EXCEEDED(12),
    RECEIVER_NOT_READY_RETRIES_EXCEEDED(13);

    private final int code;

    CompletionStatus(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }
}
