package org.jrdma.soft.roce.engine;

/** The kind of operation that completed. The codes are those of libibverbs. */
public enum CompletionKind {
    SEND(0),
    WRITE(1),
    READ(2),
    COMPARE_AND_SWAP(3),
    FETCH_AND_ADD(4),
    BIND(5),
    INVALIDATE(6),
    FLUSH(8),
    ATOMIC_WRITE(9),
    RECEIVE(128),
    RECEIVE_WRITE_WITH_IMMEDIATE(129);

    private final int code;

    CompletionKind(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    static CompletionKind of(SendOperationKind operation) {
        return switch (operation) {
            case SEND -> SEND;
            case WRITE -> WRITE;
            case READ -> READ;
            case COMPARE_AND_SWAP -> COMPARE_AND_SWAP;
            case FETCH_AND_ADD -> FETCH_AND_ADD;
            case BIND -> BIND;
            case INVALIDATE -> INVALIDATE;
            case FLUSH -> FLUSH;
            case ATOMIC_WRITE -> ATOMIC_WRITE;
        };
    }
}
