package org.jrdma.verbs.cm.channel;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.jrdma.verbs.cm.model.PrivateData;

/**
 * The parameters that the two sides of an {@code RdmaChannel} exchange. They are the first part of
 * the private data of the connect request and its reply, and the program's private data follows.
 *
 * @param messageBytes the maximum length of a message that the sender of the parameters can receive
 * @param window the number of messages that the sender of the parameters can receive before it has
 *     handled the first
 */
public record ChannelParameters(int messageBytes, int window) {

    /** The characters "jrc" and a version number. */
    private static final int MAGIC = 0x6a726301;

    /** The length of the encoded parameters. */
    public static final int BYTES = 3 * Integer.BYTES;

    /** Encodes these parameters, followed by the program's private data. */
    public byte[] encode(byte... data) {
        return ByteBuffer.allocate(BYTES + data.length)
                .putInt(MAGIC)
                .putInt(messageBytes)
                .putInt(window)
                .put(data)
                .array();
    }

    /** Returns the program's private data, which follows the parameters. */
    public static PrivateData programData(PrivateData all) {
        return PrivateData.of(Arrays.copyOfRange(all.bytes(), BYTES, all.length()));
    }

    /**
     * Decodes parameters. Returns empty if the private data does not start with valid parameters.
     */
    public static Optional<ChannelParameters> decode(PrivateData data) {
        var bytes = ByteBuffer.wrap(data.bytes());
        if (bytes.remaining() < BYTES || bytes.getInt() != MAGIC) {
            return Optional.empty();
        }
        var parameters = new ChannelParameters(bytes.getInt(), bytes.getInt());
        return parameters.messageBytes < 1 || parameters.window < 1
                ? Optional.empty()
                : Optional.of(parameters);
    }
}
