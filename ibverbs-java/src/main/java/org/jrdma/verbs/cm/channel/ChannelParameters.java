package org.jrdma.verbs.cm.channel;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import org.jrdma.verbs.cm.model.PrivateData;

/**
 * The parameters that the two sides of an {@code RdmaChannel} exchange. They are encoded at the
 * start of the private data of the connect request and of its reply. The private data of the
 * program follows them.
 *
 * @param messageBytes the maximum length of a message that the sender of the parameters can
 *     receive, in bytes
 * @param window the number of messages that the sender of the parameters can receive before it has
 *     handled the first of them
 */
public record ChannelParameters(int messageBytes, int window) {

    /** The characters "jrc" and the version number 1, which identify encoded parameters. */
    private static final int MAGIC = 0x6a726301;

    /** The length of the encoded parameters in bytes. */
    public static final int BYTES = 3 * Integer.BYTES;

    /** Encodes these parameters and appends the private data of the program. */
    public byte[] encode(byte... data) {
        return ByteBuffer.allocate(BYTES + data.length)
                .putInt(MAGIC)
                .putInt(messageBytes)
                .putInt(window)
                .put(data)
                .array();
    }

    /**
     * Returns the private data of the program, which follows the encoded parameters.
     *
     * @param all private data that starts with encoded parameters
     */
    public static PrivateData programData(PrivateData all) {
        return PrivateData.of(Arrays.copyOfRange(all.bytes(), BYTES, all.length()));
    }

    /**
     * Decodes the parameters at the start of private data. Returns an empty Optional if the private
     * data does not start with valid parameters.
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
