package org.jrdma.sockets.sisci;

import java.util.Arrays;
import java.util.Optional;

/** The reply of a listener to a {@link ConnectRequest}. */
enum ConnectReply {
    ACCEPTED(1, ""),
    OTHER_ADDRESS(2, "its listener at this port is bound to another address"),
    QUEUE_FULL(3, "its accept queue is full"),
    CLOSING(4, "its listener is being closed");

    private final long code;
    private final String reason;

    ConnectReply(long code, String reason) {
        this.code = code;
        this.reason = reason;
    }

    /**
     * Returns the code of the reply in shared memory. It is never 0, because 0 means that no reply
     * has been stored yet.
     */
    long code() {
        return code;
    }

    /**
     * Returns the reason for a rejection. It is the end of a message in which "its" refers to the
     * peer.
     */
    String reason() {
        return reason;
    }

    static Optional<ConnectReply> of(long code) {
        return Arrays.stream(values()).filter(reply -> reply.code == code).findFirst();
    }
}
