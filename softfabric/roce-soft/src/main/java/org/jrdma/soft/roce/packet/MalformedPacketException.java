package org.jrdma.soft.roce.packet;

/**
 * Thrown to indicate that bytes are not a valid packet. It has no stack trace, so that a flood of
 * invalid packets costs little time.
 */
public final class MalformedPacketException extends Exception {

    private static final long serialVersionUID = 1L;

    public MalformedPacketException(String message) {
        super(message, null, false, false);
    }
}
