package org.jrdma.verbs.cm.channel;

/** A message of a peer that violates the protocol of a channel. */
public final class InvalidMessageException extends Exception {

    private static final long serialVersionUID = 1L;

    InvalidMessageException() {
        super("the peer has sent what is no message of a channel's");
    }
}
