package org.jrdma.soft.roce.connection;

/** The state of one side of a connection. */
enum ConnectionState {
    /** The connect request was sent, and the peer has not replied. */
    REQUESTING,
    /** A connect request was received, and the program has not accepted or rejected it. */
    REQUESTED,
    /** The reply was sent, and the peer has not confirmed it. */
    REPLYING,
    /** The reply was received, and the program has not confirmed it. */
    REPLIED,
    ESTABLISHED,
    /** A disconnect request was sent, and the peer has not replied. */
    DISCONNECTING,
    /** A disconnect request was received, and the program has not replied. */
    DISCONNECT_REQUESTED,
    TIME_WAIT,
    ENDED;

    /**
     * Returns true if a side in this state repeats its last message of the given kind until the
     * peer answers.
     */
    boolean awaitsAnswerTo(AnsweredKind kind) {
        return switch (kind) {
            case REQUEST -> this == REQUESTING;
            case REPLY -> this == REPLYING;
            case OTHER -> false;
        };
    }

    /** Returns true if the peer has sent the connect request and has not confirmed the reply. */
    boolean isUnconfirmed() {
        return this == REQUESTED || this == REPLYING;
    }

    /**
     * Returns true for all states before the time-wait state. Until then, a connect request for the
     * remote queue pair of the connection suggests that the peer has lost the connection.
     */
    boolean holdsQueuePair() {
        return this != TIME_WAIT && this != ENDED;
    }
}
