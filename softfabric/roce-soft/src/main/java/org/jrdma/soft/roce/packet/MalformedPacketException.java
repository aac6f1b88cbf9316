package org.jrdma.soft.roce.packet;

/**
 * These bytes are no packet. Carries no stack trace: whoever floods a port with rubbish should cost
 * it little.
 */
public final class MalformedPacketException extends Exception {

    private static final long serialVersionUID = 1L;

    public MalformedPacketException(String message) {
        super(message, null, false, false);
    }
}
