package org.jrdma.volume.protocol;

import java.nio.ByteBuffer;
import java.util.List;
import org.jrdma.volume.metadata.Encoder;
import org.jrdma.volume.metadata.Names;
import org.jrdma.volume.model.VolumeException;

/**
 * The reply to {@link Operation#REDIRECT}.
 *
 * @param server the name of the server, which forwards the requests
 * @param coordinator the addresses at which the server reaches the coordinator
 */
public record RedirectReply(String server, List<String> coordinator) {

    private static final int MAX_ADDRESS_BYTES = 500;

    /** Writes the reply. */
    public void encode(Encoder encoder) {
        encoder.writeText(server);
        encoder.writeList(
                coordinator.stream().limit(RequestHeader.MAX_ADDRESSES).toList(),
                Encoder::writeText);
    }

    /**
     * Reads a reply.
     *
     * @throws VolumeException if the server does not forward requests
     */
    public static RedirectReply decode(ByteBuffer reply) throws VolumeException {
        var decoder = ReplyEncoding.decode(reply);
        return new RedirectReply(
                decoder.readText(Names.MAX_BYTES),
                decoder.readList(
                        RequestHeader.MAX_ADDRESSES, source -> source.readText(MAX_ADDRESS_BYTES)));
    }
}
