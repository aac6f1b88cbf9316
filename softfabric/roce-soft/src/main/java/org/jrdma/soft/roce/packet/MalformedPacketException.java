package org.jrdma.soft.roce.packet;

/**
 * Thrown for bytes that are not a valid packet. Has no stack trace, so that a flood of invalid
 * packets costs little.
 */
public final class MalformedPacketException extends Exception {

    private static final long serialVersionUID = 1L;

    public MalformedPacketException(String message) {
        super(message, null, false, false);
    }
}
