package org.jrdma.verbs.cm;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * What the two sides of an {@link RdmaChannel} tell each other while they connect.
 *
 * @param messageBytes the longest message that the side takes
 * @param window how many it takes before it has handled the first
 */
record ChannelGreeting(int messageBytes, int window) {

    /** "jrc" and a version. */
    private static final int MAGIC = 0x6a726301;

    byte[] toBytes() {
        return ByteBuffer.allocate(3 * Integer.BYTES)
                .putInt(MAGIC)
                .putInt(messageBytes)
                .putInt(window)
                .array();
    }

    /** Empty if it is something else. */
    static Optional<ChannelGreeting> from(PrivateData data) {
        var bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.remaining() < 3 * Integer.BYTES || bytes.getInt() != MAGIC) {
            return Optional.empty();
        }
        var greeting = new ChannelGreeting(bytes.getInt(), bytes.getInt());
        return greeting.messageBytes < 1 || greeting.window < 1
                ? Optional.empty()
                : Optional.of(greeting);
    }
}
