package org.jrdma.verbs.cm.channel;

/** Thrown when a peer's message violates the protocol of a channel. */
public final class InvalidMessageException extends Exception {

    private static final long serialVersionUID = 1L;

    InvalidMessageException() {
        super("the peer sent an invalid channel message");
    }
}
