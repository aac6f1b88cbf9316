package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/** The message that asks for the queue pair of a datagram service (SIDR_REQ). */
public record SidrRequest(
        long transaction,
        int requestId,
        int partitionKey,
        long serviceId,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x17;
    public static final int PRIVATE_BYTES = 216;

    private static final int PRIVATE_OFFSET = 16;

    public SidrRequest {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static SidrRequest decode(long transaction, MemorySegment body) {
        return new SidrRequest(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.unsignedShort(body, 4),
                BigEndian.longInteger(body, 8),
                MessageFields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, requestId);
        BigEndian.putShort(body, 4, partitionKey);
        BigEndian.putLongInteger(body, 8, serviceId);
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
