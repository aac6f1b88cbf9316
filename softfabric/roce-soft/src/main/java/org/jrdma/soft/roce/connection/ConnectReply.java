package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * Accepts a connection, REP.
 *
 * @param adapter the GUID of the sender's
 * @param extended whether its queue pair is of XRC, which stands elsewhere
 * @param elsewhere what stands where that of the other kind would, most likely 0
 * @param acknowledgeDelay how late its acknowledgements are: 4.096 us times 2 to this
 */
public record ConnectReply(
        long transaction,
        int localId,
        int remoteId,
        long adapter,
        EndpointParameters offer,
        boolean extended,
        int elsewhere,
        int acknowledgeDelay,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x13;
    public static final int PRIVATE_BYTES = 196;

    private static final int QUEUE_PAIR_OFFSET = 12;

    /** The number of an end-to-end context, or of a queue pair of XRC, which can only receive. */
    private static final int CONTEXT_OFFSET = 16;

    /** Where the three bytes of the vendor stand, the highest first. */
    private static final int[] VENDOR_OFFSETS = {15, 19, 23};

    private static final int PRIVATE_OFFSET = 36;

    /** Checks the length of the private data. */
    public ConnectReply {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static ConnectReply decode(long transaction, int modifier, MemorySegment body) {
        var queuePair = MessageFields.upper24(body, QUEUE_PAIR_OFFSET);
        var context = MessageFields.upper24(body, CONTEXT_OFFSET);
        var extended = queuePair == 0; // which no connection has
        var vendor = 0;
        for (var offset : VENDOR_OFFSETS) {
            vendor = (vendor << Byte.SIZE) | BigEndian.unsignedByte(body, offset);
        }
        var flags = BigEndian.unsignedByte(body, 26);
        var retries = BigEndian.unsignedByte(body, 27);
        return new ConnectReply(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                BigEndian.longInteger(body, 28),
                new EndpointParameters(
                        extended ? context : queuePair,
                        MessageFields.upper24(body, 20),
                        BigEndian.unsignedByte(body, 24),
                        BigEndian.unsignedByte(body, 25),
                        (flags & 1) != 0,
                        (retries >> 4 & 1) != 0,
                        retries >> 5,
                        new EceOptions(vendor, modifier)),
                extended,
                extended ? queuePair : context,
                flags >> 3,
                MessageFields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    /**
     * This as the answer to a request of a kind, which says where the number of the queue pair
     * stands; it is 0 where there is none.
     */
    ConnectReply to(boolean extendedRequest) {
        return extendedRequest == extended
                ? this
                : new ConnectReply(
                        transaction,
                        localId,
                        remoteId,
                        adapter,
                        offer.of(elsewhere),
                        extendedRequest,
                        offer.queuePair(),
                        acknowledgeDelay,
                        privateData);
    }

    @Override
    public int modifier() {
        return offer.enhancement().options();
    }

    /** A queue pair of XRC that answers does not send: what is said of that stays 0. */
    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        MessageFields.putUpper24(body, QUEUE_PAIR_OFFSET, extended ? elsewhere : offer.queuePair());
        MessageFields.putUpper24(body, CONTEXT_OFFSET, extended ? offer.queuePair() : elsewhere);
        MessageFields.putUpper24(body, 20, offer.sequence());
        BigEndian.putByte(body, 24, offer.responderResources());
        BigEndian.putByte(body, 25, extended ? 0 : offer.initiatorDepth());
        BigEndian.putByte(
                body, 26, acknowledgeDelay << 3 | (!extended && offer.flowControl() ? 1 : 0));
        BigEndian.putByte(
                body,
                27,
                offer.notReadyRetries() << 5 | (extended || offer.sharedReceives() ? 1 << 4 : 0));
        BigEndian.putLongInteger(body, 28, adapter);
        var vendor = offer.enhancement().vendor();
        for (var place = 0; place < VENDOR_OFFSETS.length; place++) {
            BigEndian.putByte(body, VENDOR_OFFSETS[place], vendor >> ((2 - place) * Byte.SIZE));
        }
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
