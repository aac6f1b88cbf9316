package org.jrdma.soft.roce.engine;

/** The operation of a work request in a send queue. */
public enum SendOperationKind {
    SEND,
    WRITE,
    READ,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    /** Writes eight bytes to remote memory atomically. */
    ATOMIC_WRITE,
    /** Makes earlier writes to remote memory visible or persistent. */
    FLUSH,
    /** Binds a local memory window. */
    BIND,
    /** Invalidates a local memory window. */
    INVALIDATE;

    /**
     * Returns true if the peer answers the operation with a response of its own. The
     * acknowledgement of a later request does not replace such a response.
     */
    public boolean needsResponse() {
        return returnsData() || hasEmptyResponse();
    }

    /** Returns true if the response carries data that is stored in local memory. */
    public boolean returnsData() {
        return switch (this) {
            case SEND, WRITE, BIND, INVALIDATE, ATOMIC_WRITE, FLUSH -> false;
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> true;
        };
    }

    /** Returns true if the peer answers the operation like a READ of 0 bytes. */
    boolean hasEmptyResponse() {
        return this == ATOMIC_WRITE || this == FLUSH;
    }

    /** Returns true if the operation is executed locally and sends no packet. */
    boolean isLocal() {
        return this == BIND || this == INVALIDATE;
    }

    /** Returns true if the operation is COMPARE AND SWAP or FETCH AND ADD. */
    boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }
}
