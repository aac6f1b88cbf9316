package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that answers a SIDR request (SIDR_REP). Unless it is a rejection, it contains the
 * queue pair number and the queue key of a datagram service.
 *
 * @param status {@link #VALID}, or the code of the reason for a rejection
 */
public record SidrReply(
        long transaction,
        int requestId,
        int status,
        int queuePair,
        long serviceId,
        int queueKey,
        MemorySegment privateData)
        implements Message {

    public static final int VALID = 0;
    public static final int UNSUPPORTED = 1;
    public static final int REJECTED = 2;
    public static final int PRIVATE_BYTES = 136;

    static final int ATTRIBUTE = 0x18;

    private static final int PRIVATE_OFFSET = 96;

    public SidrReply {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static SidrReply decode(long transaction, MemorySegment body) {
        return new SidrReply(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.unsignedByte(body, 4),
                MessageFields.upper24(body, 8),
                BigEndian.longInteger(body, 12),
                BigEndian.integer(body, 20),
                MessageFields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, requestId);
        BigEndian.putByte(body, 4, status);
        MessageFields.putUpper24(body, 8, queuePair);
        BigEndian.putLongInteger(body, 12, serviceId);
        BigEndian.putInteger(body, 20, queueKey);
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
