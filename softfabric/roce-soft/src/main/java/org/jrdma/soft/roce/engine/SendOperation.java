package org.jrdma.soft.roce.engine;

/** The operation of a work request. */
public enum SendOperation {
    SEND,
    WRITE,
    READ,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    /** Writes eight bytes atomically. */
    ATOMIC_WRITE,
    /** Makes earlier writes visible or persistent. */
    FLUSH,
    /** Binds a memory window. */
    BIND,
    /** Invalidates a memory window. */
    INVALIDATE;

    /**
     * Returns true if the operation has its own response, which a later acknowledgement cannot
     * substitute.
     */
    public boolean needsResponse() {
        return returnsData() || hasEmptyResponse();
    }

    /** Returns true if the response carries data. */
    public boolean returnsData() {
        return switch (this) {
            case SEND, WRITE, BIND, INVALIDATE, ATOMIC_WRITE, FLUSH -> false;
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> true;
        };
    }

    /** Returns true if the response is that of a READ of 0 bytes. */
    boolean hasEmptyResponse() {
        return this == ATOMIC_WRITE || this == FLUSH;
    }

    /** Returns true if the operation is executed locally and sends no packet. */
    boolean isLocal() {
        return this == BIND || this == INVALIDATE;
    }

    boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }
}
