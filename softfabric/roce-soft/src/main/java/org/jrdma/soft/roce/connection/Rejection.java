package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * Refuses or abandons a connection, REJ. What a peer may say beside the reason stays unread.
 *
 * @param localId 0 where the sender has none for it
 * @param remoteId 0 where the sender does not know it
 * @param reason a code of the specification, see {@link RejectionReason}
 * @param adapter the GUID of the sender's device where the reason is {@link
 *     RejectionReason#TIMEOUT}, which is how a peer finds a request whose sender does not know the
 *     peer's number; else 0
 */
public record Rejection(
        long transaction,
        int localId,
        int remoteId,
        AnsweredMessage answered,
        int reason,
        long adapter,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x12;
    public static final int PRIVATE_BYTES = 148;

    private static final int INFORMATION_OFFSET = 12;
    private static final int PRIVATE_OFFSET = 84;

    /** Checks the length of the private data. */
    public Rejection {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    /** For any reason but that the peer has not answered in time. */
    Rejection(
            long transaction,
            int localId,
            int remoteId,
            AnsweredMessage answered,
            int reason,
            MemorySegment privateData) {
        this(transaction, localId, remoteId, answered, reason, 0, privateData);
    }

    static Rejection decode(long transaction, MemorySegment body) {
        return new Rejection(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                AnsweredMessage.of(BigEndian.unsignedByte(body, 8) >> 6),
                BigEndian.unsignedShort(body, 10),
                BigEndian.unsignedByte(body, 9) >> 1 == Long.BYTES
                        ? BigEndian.longInteger(body, INFORMATION_OFFSET)
                        : 0,
                MessageFields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        BigEndian.putByte(body, 8, answered.code() << 6);
        BigEndian.putShort(body, 10, reason);
        if (reason == RejectionReason.TIMEOUT) {
            BigEndian.putByte(body, 9, Long.BYTES << 1);
            BigEndian.putLongInteger(body, INFORMATION_OFFSET, adapter);
        }
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
