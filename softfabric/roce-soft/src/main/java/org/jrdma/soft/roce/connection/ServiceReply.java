package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * Says where datagrams for a service go, SIDR_REP.
 *
 * @param status 0, or why there is no answer
 */
public record ServiceReply(
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

    /** Checks the length of the private data. */
    public ServiceReply {
        Fields.checked(privateData, PRIVATE_BYTES);
    }

    static ServiceReply decode(long transaction, MemorySegment body) {
        return new ServiceReply(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.unsignedByte(body, 4),
                Fields.upper24(body, 8),
                BigEndian.longInteger(body, 12),
                BigEndian.integer(body, 20),
                Fields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, requestId);
        BigEndian.putByte(body, 4, status);
        Fields.putUpper24(body, 8, queuePair);
        BigEndian.putLongInteger(body, 12, serviceId);
        BigEndian.putInteger(body, 20, queueKey);
        Fields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
