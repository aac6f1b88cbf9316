package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that rejects or abandons a connection (REJ). Additional information other than a GUID
 * is ignored when a rejection is received.
 *
 * @param localId the ID that the sender has assigned to the connection; 0 if there is none
 * @param remoteId the ID that the receiver has assigned to the connection; 0 if the sender does not
 *     know it
 * @param reason the code of the reason, see {@link RejectionReason}
 * @param adapter the GUID of the sending device if the reason is {@link RejectionReason#TIMEOUT},
 *     otherwise 0. A receiver can find the connection by the GUID and {@code localId}, although the
 *     sender does not know {@code remoteId}
 */
public record Rejection(
        long transaction,
        int localId,
        int remoteId,
        AnsweredKind answered,
        int reason,
        long adapter,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x12;
    public static final int PRIVATE_BYTES = 148;

    private static final int INFORMATION_OFFSET = 12;
    private static final int PRIVATE_OFFSET = 84;

    public Rejection {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    /**
     * Creates a rejection without a GUID, for any reason except {@link RejectionReason#TIMEOUT}.
     */
    Rejection(
            long transaction,
            int localId,
            int remoteId,
            AnsweredKind answered,
            int reason,
            MemorySegment privateData) {
        this(transaction, localId, remoteId, answered, reason, 0, privateData);
    }

    static Rejection decode(long transaction, MemorySegment body) {
        return new Rejection(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                AnsweredKind.of(BigEndian.unsignedByte(body, 8) >> 6),
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
