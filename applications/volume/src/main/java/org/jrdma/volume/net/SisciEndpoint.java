package org.jrdma.volume.net;

import java.nio.ByteBuffer;
import java.util.regex.Pattern;
import org.jrdma.ffi.FabricException;

/**
 * The objects of one side of a connection over SISCI, to which the other side connects.
 *
 * @param node the id of the node
 * @param queue the segment id of the message queue
 * @param interrupt the number of the interrupt that announces messages
 * @param area the id of the segment for bulk data
 */
record SisciEndpoint(int node, int queue, int interrupt, int area) {

    private static final long MAGIC = 0x6a72646d_61736369L;
    private static final int BYTES = 24;
    private static final Pattern PLACE = Pattern.compile("([0-9]{1,5}):([0-9]{1,9})");

    /**
     * The address of a listener.
     *
     * @param node the id of the node
     * @param number the number of the data interrupt
     */
    record Place(int node, int number) {}

    static Place parsePlace(String text) throws FabricException {
        var matcher = PLACE.matcher(text);
        if (!matcher.matches()) {
            throw new FabricException(
                    "Cannot parse \"%s\" as a node id and the number of a data interrupt, such as 4:1001."
                            .formatted(text));
        }
        return new Place(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(MAGIC)
                .putInt(node)
                .putInt(queue)
                .putInt(interrupt)
                .putInt(area)
                .array();
    }

    static SisciEndpoint decode(ByteBuffer message) throws ProtocolException {
        if (message.remaining() != BYTES || message.getLong() != MAGIC) {
            throw new ProtocolException("the peer is not a node of a volume");
        }
        return new SisciEndpoint(
                message.getInt(), message.getInt(), message.getInt(), message.getInt());
    }
}
