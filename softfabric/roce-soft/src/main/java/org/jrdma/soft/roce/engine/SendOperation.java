package org.jrdma.soft.roce.engine;

/** What a work request asks for. */
public enum SendOperation {
    SEND,
    WRITE,
    READ,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    /** Writes eight bytes at once. */
    ATOMIC_WRITE,
    /** Brings what was written before to where it is visible. */
    FLUSH,
    /** Changes what a window shows. */
    BIND,
    /** Unbinds a window. */
    INVALIDATE;

    /** Whether it has an answer of its own, which no later acknowledgement can stand for. */
    public boolean needsResponse() {
        return bringsData() || isAnsweredEmpty();
    }

    /** Whether the answer carries data. */
    public boolean bringsData() {
        return switch (this) {
            case SEND, WRITE, BIND, INVALIDATE, ATOMIC_WRITE, FLUSH -> false;
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> true;
        };
    }

    /** Whether it is answered as a READ of nothing. */
    boolean isAnsweredEmpty() {
        return this == ATOMIC_WRITE || this == FLUSH;
    }

    /** Whether nothing of it is sent. */
    boolean isLocal() {
        return this == BIND || this == INVALIDATE;
    }

    boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }
}
