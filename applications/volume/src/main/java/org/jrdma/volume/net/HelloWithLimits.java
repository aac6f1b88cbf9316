package org.jrdma.volume.net;

import java.nio.ByteBuffer;

/**
 * The first message of each side, which contains the limits that the side applies to its peer.
 *
 * @param calls the number of calls that the side serves at the same time
 * @param areaBytes the size of the memory for the bulk data of these calls
 */
record HelloWithLimits(int calls, int areaBytes) {

    private static final long MAGIC = 0x6a72646d_61766f6cL;
    private static final int VERSION = 1;
    private static final int BYTES = 20;

    ByteBuffer encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(MAGIC)
                .putInt(VERSION)
                .putInt(calls)
                .putInt(areaBytes)
                .flip();
    }

    static HelloWithLimits decode(Frame frame) throws ProtocolException {
        var payload = frame.payload();
        if (frame.header().kind() != FrameHeader.Kind.HELLO
                || payload.remaining() != BYTES
                || payload.getLong() != MAGIC) {
            throw new ProtocolException("the peer is not a node of a volume");
        }
        var version = payload.getInt();
        if (version != VERSION) {
            throw new ProtocolException(
                    "the peer uses version %d of the protocol, and this node version %d"
                            .formatted(version, VERSION));
        }
        var hello = new HelloWithLimits(payload.getInt(), payload.getInt());
        if (hello.calls < 1 || hello.areaBytes < 0) {
            throw new ProtocolException("the peer sent invalid limits");
        }
        return hello;
    }
}
