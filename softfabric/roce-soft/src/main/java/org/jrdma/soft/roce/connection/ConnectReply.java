package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * Accepts a connection, REP.
 *
 * @param adapter the GUID of the sender's
 * @param acknowledgeDelay how late its acknowledgements are: 4.096 us times 2 to this
 */
public record ConnectReply(
        long transaction,
        int localId,
        int remoteId,
        long adapter,
        Offer offer,
        int acknowledgeDelay,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x13;
    public static final int PRIVATE_BYTES = 196;

    private static final int PRIVATE_OFFSET = 36;

    /** Checks the length of the private data. */
    public ConnectReply {
        Fields.checked(privateData, PRIVATE_BYTES);
    }

    static ConnectReply decode(long transaction, MemorySegment body) {
        var flags = BigEndian.unsignedByte(body, 26);
        var retries = BigEndian.unsignedByte(body, 27);
        return new ConnectReply(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                BigEndian.longInteger(body, 28),
                new Offer(
                        Fields.upper24(body, 12),
                        Fields.upper24(body, 20),
                        BigEndian.unsignedByte(body, 24),
                        BigEndian.unsignedByte(body, 25),
                        (flags & 1) != 0,
                        (retries >> 4 & 1) != 0,
                        retries >> 5),
                flags >> 3,
                Fields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    @Override
    public int attribute() {
        return ATTRIBUTE;
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        Fields.putUpper24(body, 12, offer.queuePair());
        Fields.putUpper24(body, 20, offer.sequence());
        BigEndian.putByte(body, 24, offer.responderResources());
        BigEndian.putByte(body, 25, offer.initiatorDepth());
        BigEndian.putByte(body, 26, acknowledgeDelay << 3 | (offer.flowControl() ? 1 : 0));
        BigEndian.putByte(
                body, 27, offer.notReadyRetries() << 5 | (offer.sharedReceives() ? 1 : 0) << 4);
        BigEndian.putLongInteger(body, 28, adapter);
        Fields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
