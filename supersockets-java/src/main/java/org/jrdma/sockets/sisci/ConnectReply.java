package org.jrdma.sockets.sisci;

import java.util.Arrays;
import java.util.Optional;

/** What a listener answers to a {@link ConnectRequest}. */
enum ConnectReply {
    ACCEPTED(1, ""),
    OTHER_ADDRESS(2, "its listener at this port is for another address"),
    QUEUE_FULL(3, "too many wait to be accepted there"),
    CLOSING(4, "its listener is being closed");

    private final long code;
    private final String reason;

    ConnectReply(long code, String reason) {
        this.code = code;
        this.reason = reason;
    }

    /** As it stands in memory; never 0. */
    long code() {
        return code;
    }

    /** Why not, to be read after the peer's name. */
    String reason() {
        return reason;
    }

    static Optional<ConnectReply> of(long code) {
        return Arrays.stream(values()).filter(reply -> reply.code == code).findFirst();
    }
}
