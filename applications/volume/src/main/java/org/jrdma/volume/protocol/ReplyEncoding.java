package org.jrdma.volume.protocol;

import java.nio.ByteBuffer;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;

/** The encoding of replies: a status, and the values or the message of a failure. */
public final class ReplyEncoding {

    private static final int OK = 255;

    /** The status of a request that the client repeats later, such as one for a lease. */
    private static final int RETRY = 254;

    private static final int MAX_MESSAGE_BYTES = 4000;
    private static final int MAX_MESSAGE_CHARACTERS = 1000;

    private ReplyEncoding() {}

    /** Returns an encoder for the values of a reply. */
    public static Encoder encoder() {
        var encoder = new Encoder();
        encoder.writeByte(OK);
        return encoder;
    }

    /** Returns the reply without values. */
    public static byte[] empty() {
        return encoder().bytes();
    }

    /** Returns the reply to a request that the client must repeat. */
    public static byte[] retry() {
        return new byte[] {(byte) RETRY};
    }

    /** Returns the reply to a request that was rejected. */
    public static byte[] failure(VolumeException e) {
        var message = String.valueOf(e.getMessage());
        var encoder = new Encoder();
        encoder.writeEnum(e.failure());
        encoder.writeText(message.substring(0, Math.min(message.length(), MAX_MESSAGE_CHARACTERS)));
        return encoder.bytes();
    }

    /** Returns true if the client must repeat the request. */
    public static boolean isRetry(ByteBuffer reply) {
        return reply.remaining() == 1 && Byte.toUnsignedInt(reply.get(reply.position())) == RETRY;
    }

    /**
     * Returns the values of a reply.
     *
     * @throws VolumeException if the request was rejected
     */
    public static Decoder decode(ByteBuffer reply) throws VolumeException {
        var decoder = new Decoder(reply);
        var status = decoder.readByte();
        if (status == OK) {
            return decoder.rest();
        }
        var failures = Failure.values();
        if (status >= failures.length) {
            throw new VolumeException(Failure.MALFORMED, "Malformed reply: status " + status);
        }
        throw new VolumeException(failures[status], decoder.readText(MAX_MESSAGE_BYTES));
    }
}
