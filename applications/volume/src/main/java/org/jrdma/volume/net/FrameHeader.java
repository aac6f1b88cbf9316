package org.jrdma.volume.net;

import java.nio.ByteBuffer;
import org.jrdma.volume.net.BulkData.Direction;
import org.jspecify.annotations.Nullable;

/**
 * The header of a frame. A frame is a header and a payload, and is the unit that the transports
 * transfer.
 *
 * @param kind the kind of the frame
 * @param direction the direction of the bulk data, seen from the caller; null if there is none
 * @param payloadBytes the length of the payload
 * @param call the number of the call; 0 for a frame that belongs to no call
 * @param areaOffset the offset of the bulk data in the area of the serving side
 * @param bulkBytes the length of the bulk data
 * @param address the address of the bulk data at the caller
 * @param key the key of the bulk data at the caller
 * @param datagrams the number of datagrams with bulk data that the caller expects; 0 if the peer
 *     moves the data in another way
 */
record FrameHeader(
        Kind kind,
        @Nullable Direction direction,
        int payloadBytes,
        long call,
        int areaOffset,
        int bulkBytes,
        long address,
        int key,
        int datagrams) {

    /** The length of an encoded header. */
    static final int BYTES = 40;

    /** A kind of frame. */
    enum Kind {
        /** The first frame of each side. */
        HELLO(1),
        REQUEST(2),
        REPLY(3),
        /** The reply to a request that failed. The payload is a message. */
        FAILURE(4),
        /** Shows that the sender is alive. */
        PING(5),
        /** Announces that the sender ends the connection. */
        CLOSE(6),
        /** Reports that the datagrams that the receiver of this frame expects were sent. */
        SENT(7),
        /** The answer to {@link #SENT}: the indexes of the datagrams that are expected next. */
        MISSING(8),
        /** The answer to {@link #SENT}: all datagrams have arrived. */
        ARRIVED(9);

        private final int code;

        Kind(int code) {
            this.code = code;
        }

        static Kind of(int code) throws ProtocolException {
            for (var kind : values()) {
                if (kind.code == code) {
                    return kind;
                }
            }
            throw new ProtocolException("the peer sent a malformed header");
        }
    }

    /** Creates a header of a frame whose caller expects no datagrams. */
    FrameHeader(
            Kind kind,
            @Nullable Direction direction,
            int payloadBytes,
            long call,
            int areaOffset,
            int bulkBytes,
            long address,
            int key) {
        this(kind, direction, payloadBytes, call, areaOffset, bulkBytes, address, key, 0);
    }

    private static int code(@Nullable Direction direction) {
        return switch (direction) {
            case null -> 0;
            case TO_PEER -> 1;
            case FROM_PEER -> 2;
        };
    }

    private static @Nullable Direction direction(int code) throws ProtocolException {
        return switch (code) {
            case 0 -> null;
            case 1 -> Direction.TO_PEER;
            case 2 -> Direction.FROM_PEER;
            default -> throw new ProtocolException("the peer sent a malformed header");
        };
    }

    /** A frame that belongs to no call. */
    static FrameHeader of(Kind kind, int payloadBytes) {
        return of(kind, 0, payloadBytes);
    }

    /** A frame without bulk data. */
    static FrameHeader of(Kind kind, long call, int payloadBytes) {
        return new FrameHeader(kind, null, payloadBytes, call, 0, 0, 0, 0);
    }

    /** Returns the header of this request of a caller that expects datagrams. */
    FrameHeader expecting(int count) {
        return new FrameHeader(
                kind, direction, payloadBytes, call, areaOffset, bulkBytes, address, key, count);
    }

    /** Returns the header of the reply to this request. */
    FrameHeader reply(Kind kind, int bytes) {
        var withData = kind == Kind.REPLY && direction == Direction.FROM_PEER;
        return withData
                ? new FrameHeader(
                        kind,
                        direction,
                        bytes,
                        call,
                        areaOffset,
                        bulkBytes,
                        address,
                        key,
                        datagrams)
                : of(kind, call, bytes);
    }

    /** Returns true if the sender of this frame is also the sender of the bulk data. */
    boolean carriesData() {
        return kind == Kind.REQUEST
                ? direction == Direction.TO_PEER
                : direction == Direction.FROM_PEER;
    }

    void encode(ByteBuffer target) {
        target.put((byte) kind.code)
                .put((byte) code(direction))
                .putShort((short) datagrams)
                .putInt(payloadBytes)
                .putLong(call)
                .putInt(areaOffset)
                .putInt(bulkBytes)
                .putLong(address)
                .putInt(key)
                .putInt(0);
    }

    /**
     * Decodes a header.
     *
     * @throws ProtocolException if the header is malformed
     */
    static FrameHeader decode(ByteBuffer source) throws ProtocolException {
        var kind = Kind.of(source.get());
        var direction = direction(source.get());
        var datagrams = Short.toUnsignedInt(source.getShort());
        var payloadBytes = source.getInt();
        var header =
                new FrameHeader(
                        kind,
                        direction,
                        payloadBytes,
                        source.getLong(),
                        source.getInt(),
                        source.getInt(),
                        source.getLong(),
                        source.getInt(),
                        datagrams);
        var reserved = source.getInt();
        if (reserved != 0 || payloadBytes < 0 || payloadBytes > NodeConnection.MAX_MESSAGE_BYTES) {
            throw new ProtocolException("the peer sent a malformed header");
        }
        if (!header.hasConsistentBulk()) {
            throw new ProtocolException("the peer sent a malformed description of bulk data");
        }
        return header;
    }

    private boolean hasConsistentBulk() {
        if (datagrams > 0 && direction != Direction.FROM_PEER) {
            return false;
        }
        if (direction == null) {
            return areaOffset == 0 && bulkBytes == 0 && address == 0 && key == 0;
        }
        return areaOffset >= 0
                && bulkBytes > 0
                && (kind == Kind.REQUEST
                        || (kind == Kind.REPLY && direction == Direction.FROM_PEER));
    }
}
