package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that accepts a connect request (REP).
 *
 * @param adapter the GUID of the sending device
 * @param extended true if the queue pair number is in the field for XRC queue pairs (EECN)
 * @param unusedNumber the value of the field for the queue pair numbers of the other transports,
 *     usually 0
 * @param acknowledgeDelay the maximum time that the sender takes to acknowledge a packet: 4.096 us
 *     times 2 to this power
 */
public record ConnectReply(
        long transaction,
        int localId,
        int remoteId,
        long adapter,
        EndpointParameters offer,
        boolean extended,
        int unusedNumber,
        int acknowledgeDelay,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x13;
    public static final int PRIVATE_BYTES = 196;

    private static final int QUEUE_PAIR_OFFSET = 12;

    /**
     * The offset of the number field that contains the queue pair number if the transport is XRC
     * (EECN).
     */
    private static final int CONTEXT_OFFSET = 16;

    /**
     * The offsets of the three bytes of the vendor ID, from the most to the least significant byte.
     */
    private static final int[] VENDOR_OFFSETS = {15, 19, 23};

    private static final int PRIVATE_OFFSET = 36;

    public ConnectReply {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static ConnectReply decode(long transaction, int modifier, MemorySegment body) {
        var queuePair = MessageFields.upper24(body, QUEUE_PAIR_OFFSET);
        var context = MessageFields.upper24(body, CONTEXT_OFFSET);
        var extended = queuePair == 0; // a connection never uses queue pair 0
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
     * Returns a copy of this reply with the queue pair number from the field that belongs to the
     * requested transport. The number is 0 if the peer has set only the field of the other
     * transport.
     *
     * @param extendedRequest true if the connect request asked for XRC
     */
    ConnectReply forTransport(boolean extendedRequest) {
        return extendedRequest == extended
                ? this
                : new ConnectReply(
                        transaction,
                        localId,
                        remoteId,
                        adapter,
                        offer.of(unusedNumber),
                        extendedRequest,
                        offer.queuePair(),
                        acknowledgeDelay,
                        privateData);
    }

    @Override
    public int modifier() {
        return offer.enhancement().options();
    }

    /**
     * Encodes the body. For an XRC queue pair, the fields for send parameters remain 0, because the
     * accepting XRC queue pair cannot send requests.
     */
    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        MessageFields.putUpper24(
                body, QUEUE_PAIR_OFFSET, extended ? unusedNumber : offer.queuePair());
        MessageFields.putUpper24(body, CONTEXT_OFFSET, extended ? offer.queuePair() : unusedNumber);
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
        for (var i = 0; i < VENDOR_OFFSETS.length; i++) {
            BigEndian.putByte(body, VENDOR_OFFSETS[i], vendor >> ((2 - i) * Byte.SIZE));
        }
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
