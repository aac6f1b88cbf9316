package org.jrdma.soft.roce.engine;

/** What a work request asks for. */
public enum SendOperation {
    SEND,
    WRITE,
    READ,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    /** Changes what a window shows. */
    BIND,
    /** Unbinds a window. */
    INVALIDATE;

    /** Whether the answer carries data, so that no later acknowledgement can stand for it. */
    public boolean needsResponse() {
        return switch (this) {
            case SEND, WRITE, BIND, INVALIDATE -> false;
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> true;
        };
    }

    /** Whether nothing of it is sent. */
    boolean isLocal() {
        return this == BIND || this == INVALIDATE;
    }

    boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }
}
