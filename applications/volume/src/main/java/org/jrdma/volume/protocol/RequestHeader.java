package org.jrdma.volume.protocol;

import java.nio.ByteBuffer;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.model.VolumeException;

/**
 * The start of each request.
 *
 * @param session the session of the client; 0 if it has none
 * @param request the number of a request that must not be executed twice; otherwise 0
 * @param answered the client will not repeat requests with smaller numbers
 */
public record RequestHeader(Operation operation, long session, long request, long answered) {

    /** The largest number of addresses of a node in a message. */
    public static final int MAX_ADDRESSES = 20;

    /** Returns the header of a request that can be executed again without harm. */
    public static RequestHeader of(Operation operation, long session) {
        return new RequestHeader(operation, session, 0, 0);
    }

    /** Returns an encoder that contains this header. */
    public Encoder encoder() {
        var encoder = new Encoder();
        encoder.writeEnum(operation);
        encoder.writeLong(session);
        encoder.writeLong(request);
        encoder.writeLong(answered);
        return encoder;
    }

    /** Returns a message that consists of this header. */
    public ByteBuffer message() {
        return ByteBuffer.wrap(encoder().bytes());
    }

    /** Reads a header. */
    public static RequestHeader decode(Decoder decoder) throws VolumeException {
        return new RequestHeader(
                decoder.readEnum(Operation.values()),
                decoder.readLong(),
                decoder.readCount("a request number"),
                decoder.readCount("a request number"));
    }
}
