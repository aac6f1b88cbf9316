package org.jrdma.verbs.model;

import java.nio.ByteBuffer;

/**
 * Where a queue pair is reached: what two peers tell each other, by whatever means, before they
 * connect.
 *
 * @param lid the port's address within an InfiniBand subnet; 0 on RoCE
 * @param queuePairNumber the queue pair's number, 24 bits
 * @param packetSequence the number its first packet will have, 24 bits
 * @param gid the address it sends from; {@link Gid#NONE} where the LID suffices
 */
public record Endpoint(int lid, int queuePairNumber, int packetSequence, Gid gid) {

    /** The length of the form that {@link #toBytes()} gives. */
    public static final int BYTES = 26;

    private static final int MAX_24_BITS = 0xffffff;

    /** Refuses what does not fit its field. */
    public Endpoint {
        if (lid < 0 || lid > 0xffff) {
            throw new IllegalArgumentException("A LID has 16 bits: " + lid);
        }
        if (queuePairNumber < 0 || queuePairNumber > MAX_24_BITS) {
            throw new IllegalArgumentException(
                    "A queue pair number has 24 bits: " + queuePairNumber);
        }
        if (packetSequence < 0 || packetSequence > MAX_24_BITS) {
            throw new IllegalArgumentException(
                    "A packet sequence number has 24 bits: " + packetSequence);
        }
    }

    /** The compact form for a peer, in network byte order. */
    public byte[] toBytes() {
        return ByteBuffer.allocate(BYTES)
                .putShort((short) lid)
                .putInt(queuePairNumber)
                .putInt(packetSequence)
                .putLong(gid.prefix())
                .putLong(gid.interfaceId())
                .array();
    }

    /** What {@link #toBytes()} made, from the position of {@code bytes}. */
    public static Endpoint from(ByteBuffer bytes) {
        return new Endpoint(
                bytes.getShort() & 0xffff,
                bytes.getInt(),
                bytes.getInt(),
                new Gid(bytes.getLong(), bytes.getLong()));
    }

    /** What {@link #toString()} made, or what the C examples send. */
    public static Endpoint parse(String text) {
        var parts = text.split(":", -1);
        if (parts.length != 4) {
            throw new IllegalArgumentException(
                    "An endpoint is lid:number:sequence:gid in hexadecimal digits, not " + text);
        }
        return new Endpoint(
                Integer.parseInt(parts[0], 16),
                Integer.parseInt(parts[1], 16),
                Integer.parseInt(parts[2], 16),
                Gid.parse(parts[3]));
    }

    /**
     * The text form for a peer, which is that of the C examples: {@code 0000:00001a:3ff0c2:} and 32
     * digits.
     */
    @Override
    public String toString() {
        return "%04x:%06x:%06x:%s"
                .formatted(lid, queuePairNumber, packetSequence, gid.toHexDigits());
    }
}
