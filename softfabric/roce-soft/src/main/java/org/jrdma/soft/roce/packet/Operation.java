package org.jrdma.soft.roce.packet;

/** The kind of request or response that a packet is part of. */
public enum Operation {
    SEND,
    WRITE,
    READ_REQUEST,
    READ_RESPONSE,
    ACKNOWLEDGE,
    ATOMIC_ACKNOWLEDGE,
    COMPARE_AND_SWAP,
    FETCH_AND_ADD,
    ATOMIC_WRITE,
    FLUSH;

    /** Returns true if a requester sends packets of this kind to a responder. */
    public boolean isRequest() {
        return switch (this) {
            case SEND, WRITE, READ_REQUEST, COMPARE_AND_SWAP, FETCH_AND_ADD, ATOMIC_WRITE, FLUSH ->
                    true;
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE -> false;
        };
    }
}
