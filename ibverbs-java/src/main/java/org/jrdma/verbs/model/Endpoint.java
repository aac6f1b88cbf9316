package org.jrdma.verbs.model;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * The address of a queue pair. Two peers exchange their endpoints over another channel, such as a
 * TCP connection, before they connect their queue pairs.
 *
 * @param lid the port's address in an InfiniBand subnet; 0 on RoCE
 * @param queuePairNumber the 24-bit number of the queue pair
 * @param packetSequence the 24-bit sequence number of the first packet that the queue pair sends
 * @param gid the source address of the packets that the queue pair sends; {@link Gid#NONE} if peers
 *     can address the port by its LID alone
 */
public record Endpoint(int lid, int queuePairNumber, int packetSequence, Gid gid) {

    /** The length of the encoding returned by {@link #toBytes()}. */
    public static final int BYTES = 26;

    private static final int MAX_24_BITS = 0xffffff;

    /** Checks that the values fit their fields in C. */
    public Endpoint {
        FieldRangeChecks.check("LID", lid, 0, 0xffff);
        FieldRangeChecks.check("queue pair number", queuePairNumber, 0, MAX_24_BITS);
        FieldRangeChecks.check("packet sequence number", packetSequence, 0, MAX_24_BITS);
    }

    /** Encodes the endpoint in network byte order, for sending it to a peer. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .putShort((short) lid)
                .putInt(queuePairNumber)
                .putInt(packetSequence)
                .putLong(gid.prefix())
                .putLong(gid.interfaceId())
                .array();
    }

    /**
     * Decodes the result of {@link #toBytes()}, starting at the position of {@code bytes}, and
     * advances the position.
     *
     * @throws BufferUnderflowException if fewer than {@link #BYTES} bytes remain
     */
    public static Endpoint from(ByteBuffer bytes) {
        return new Endpoint(
                bytes.getShort() & 0xffff,
                bytes.getInt(),
                bytes.getInt(),
                new Gid(bytes.getLong(), bytes.getLong()));
    }

    /**
     * Parses the result of {@link #toString()}, which is also the text that the example programs of
     * libibverbs exchange.
     *
     * @throws IllegalArgumentException if {@code text} is not an endpoint
     */
    public static Endpoint parse(String text) {
        var parts = text.split(":", -1);
        if (parts.length != 4) {
            throw new IllegalArgumentException(
                    "An endpoint must be lid:number:sequence:gid in hexadecimal digits: " + text);
        }
        return new Endpoint(
                Integer.parseInt(parts[0], 16),
                Integer.parseInt(parts[1], 16),
                Integer.parseInt(parts[2], 16),
                Gid.parse(parts[3]));
    }

    /**
     * Formats the endpoint as the example programs of libibverbs do: LID, queue pair number and
     * packet sequence number, such as {@code 0000:00001a:3ff0c2:}, followed by the 32 hexadecimal
     * digits of the GID.
     */
    @Override
    public String toString() {
        return "%04x:%06x:%06x:%s"
                .formatted(lid, queuePairNumber, packetSequence, gid.toHexDigits());
    }
}
