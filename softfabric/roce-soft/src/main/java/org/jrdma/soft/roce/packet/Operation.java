package org.jrdma.soft.roce.packet;

/** What a packet asks for or answers. */
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

    /** Whether it goes from requester to responder. */
    public boolean isRequest() {
        return switch (this) {
            case SEND, WRITE, READ_REQUEST, COMPARE_AND_SWAP, FETCH_AND_ADD, ATOMIC_WRITE, FLUSH ->
                    true;
            case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE -> false;
        };
    }
}
