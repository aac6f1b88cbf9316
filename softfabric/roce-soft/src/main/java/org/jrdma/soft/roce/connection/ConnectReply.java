package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that accepts a connection (REP).
 *
 * @param adapter the GUID of the sending device
 * @param extended true if the queue pair is an XRC queue pair, whose number is in another field of
 *     the message
 * @param unusedNumber the value of the field that would contain the queue pair number if {@code
 *     extended} had the other value; usually 0
 * @param acknowledgeDelay the exponent of the delay with which the sender acknowledges packets, in
 *     units of 4.096 us
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
     * The offset of the field for the number of an end-to-end context or of an XRC receive queue
     * pair.
     */
    private static final int CONTEXT_OFFSET = 16;

    /** The offsets of the three bytes of the vendor ID, the most significant byte first. */
    private static final int[] VENDOR_OFFSETS = {15, 19, 23};

    private static final int PRIVATE_OFFSET = 36;

    /**
     * Creates a message.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public ConnectReply {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static ConnectReply decode(long transaction, int modifier, MemorySegment body) {
        var queuePair = MessageFields.upper24(body, QUEUE_PAIR_OFFSET);
        var context = MessageFields.upper24(body, CONTEXT_OFFSET);
        var extended = queuePair == 0; // number 0 is reserved for management
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
     * Interprets this reply according to the requested transport, which determines the field that
     * contains the queue pair number. The number is 0 if the peer has set the other field.
     *
     * @param extendedRequest true if an XRC connection was requested
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
     * Encodes the body. For an XRC connection, the parameters for sending remain 0, because the
     * side that accepts only receives.
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
