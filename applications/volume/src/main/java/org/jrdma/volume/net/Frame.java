package org.jrdma.volume.net;

import java.nio.ByteBuffer;

/**
 * A received frame.
 *
 * @param payload the payload, which belongs to the receiver
 */
record Frame(FrameHeader header, ByteBuffer payload) {

    /**
     * Decodes a frame from a message that contains nothing else.
     *
     * @throws ProtocolException if the message is malformed
     */
    static Frame decode(ByteBuffer message) throws ProtocolException {
        if (message.remaining() < FrameHeader.BYTES) {
            throw new ProtocolException("the peer sent a message that is too short");
        }
        var header = FrameHeader.decode(message);
        if (message.remaining() != header.payloadBytes()) {
            throw new ProtocolException("the peer sent a message of the wrong length");
        }
        return new Frame(header, message.slice());
    }
}
