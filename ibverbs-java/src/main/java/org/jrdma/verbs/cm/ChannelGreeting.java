package org.jrdma.verbs.cm;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.jrdma.verbs.cm.model.PrivateData;

/**
 * What the two sides of an {@link RdmaChannel} tell each other while they connect.
 *
 * @param messageBytes the longest message that the side takes
 * @param window how many it takes before it has handled the first
 */
record ChannelGreeting(int messageBytes, int window) {

    /** "jrc" and a version. */
    private static final int MAGIC = 0x6a726301;

    static final int BYTES = 3 * Integer.BYTES;

    /** With what the program says behind it. */
    byte[] followedBy(byte... data) {
        return ByteBuffer.allocate(BYTES + data.length)
                .putInt(MAGIC)
                .putInt(messageBytes)
                .putInt(window)
                .put(data)
                .array();
    }

    /** What the program says behind it. */
    static PrivateData behind(PrivateData all) {
        return PrivateData.of(Arrays.copyOfRange(all.bytes(), BYTES, all.length()));
    }

    /** Empty if it is something else. */
    static Optional<ChannelGreeting> from(PrivateData data) {
        var bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.remaining() < BYTES || bytes.getInt() != MAGIC) {
            return Optional.empty();
        }
        var greeting = new ChannelGreeting(bytes.getInt(), bytes.getInt());
        return greeting.messageBytes < 1 || greeting.window < 1
                ? Optional.empty()
                : Optional.of(greeting);
    }
}
