package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that requests a connection (REQ). Its fields for an alternate path are not written,
 * and are ignored when a request is received.
 *
 * @param adapter the GUID of the sending device
 * @param transport the transport type of the specification in the low two bits, and the extended
 *     transport type in the bits above them
 * @param retries the number of retransmissions after which the queue pairs give up
 * @param peerResponseTimeout the time within which the receiver must answer: 4.096 us times 2 to
 *     this power
 * @param ownResponseTimeout the time within which the sender must answer: 4.096 us times 2 to this
 *     power
 * @param repeats the maximum number of times that a connection management message is repeated
 */
public record ConnectRequest(
        long transaction,
        int localId,
        long serviceId,
        long adapter,
        EndpointParameters offer,
        int transport,
        int retries,
        int partitionKey,
        int peerResponseTimeout,
        int ownResponseTimeout,
        int repeats,
        RequestedPath path,
        MemorySegment privateData)
        implements Message {

    static final int ATTRIBUTE = 0x10;
    public static final int PRIVATE_BYTES = 92;
    public static final int RELIABLE = 0;
    public static final int UNRELIABLE = 1;

    private static final int LAST_TYPE = 3;

    /** The transport XRC: the last transport type, combined with the first extended type. */
    public static final int EXTENDED = 1 << 2 | LAST_TYPE;

    /** The LID in the requests of networks without LIDs, such as RoCE. */
    private static final int PERMISSIVE_LID = 0xffff;

    /**
     * The value of the mandatory rate field, which means 10 Gb/s. This implementation does not
     * limit the rate.
     */
    private static final int RATE = 3;

    /** The offset of the vendor ID field. The 8 bits before the 24 bits of the ID are reserved. */
    private static final int VENDOR_OFFSET = 4;

    private static final int PRIVATE_OFFSET = 140;

    public ConnectRequest {
        MessageFields.checked(privateData, PRIVATE_BYTES);
    }

    static ConnectRequest decode(long transaction, int modifier, MemorySegment body) {
        var peerTimeouts = BigEndian.unsignedByte(body, 43);
        var timeouts = BigEndian.unsignedByte(body, 47);
        var mtu = BigEndian.unsignedByte(body, 50);
        var repeats = BigEndian.unsignedByte(body, 51);
        return new ConnectRequest(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.longInteger(body, 8),
                BigEndian.longInteger(body, 16),
                new EndpointParameters(
                        MessageFields.upper24(body, 32),
                        MessageFields.upper24(body, 44),
                        BigEndian.unsignedByte(body, 35),
                        BigEndian.unsignedByte(body, 39),
                        (peerTimeouts & 1) != 0,
                        (repeats >> 3 & 1) != 0,
                        mtu & 7,
                        new EceOptions(MessageFields.lower24(body, VENDOR_OFFSET), modifier)),
                transport(peerTimeouts >> 1 & 3, repeats & 7),
                timeouts & 7,
                BigEndian.unsignedShort(body, 48),
                peerTimeouts >> 3,
                timeouts >> 3,
                repeats >> 4,
                new RequestedPath(
                        MessageFields.address(body, 56),
                        MessageFields.address(body, 72),
                        mtu >> 4,
                        BigEndian.integer(body, 88) >>> 12,
                        BigEndian.unsignedByte(body, 92),
                        BigEndian.unsignedByte(body, 93),
                        BigEndian.unsignedByte(body, 94) >> 4,
                        BigEndian.unsignedByte(body, 95) >> 3),
                MessageFields.rest(body, PRIVATE_OFFSET, PRIVATE_BYTES));
    }

    /**
     * Combines the transport type field and the extended transport type field to one code. The
     * extended field is ignored unless the transport type is the last one, because otherwise its
     * bits are reserved.
     */
    private static int transport(int type, int extendedType) {
        return type == LAST_TYPE ? extendedType << 2 | type : type;
    }

    @Override
    public int modifier() {
        return offer.enhancement().options();
    }

    /**
     * Encodes the body. For XRC, the fields for receive parameters remain 0, because the connecting
     * XRC queue pair cannot receive requests.
     */
    @Override
    public void encodeBody(MemorySegment body) {
        var receives = transport != EXTENDED;
        BigEndian.putInteger(body, 0, localId);
        MessageFields.putLower24(body, VENDOR_OFFSET, offer.enhancement().vendor());
        BigEndian.putLongInteger(body, 8, serviceId);
        BigEndian.putLongInteger(body, 16, adapter);
        MessageFields.putUpper24(body, 32, offer.queuePair());
        BigEndian.putByte(body, 35, receives ? offer.responderResources() : 0);
        BigEndian.putByte(body, 39, offer.initiatorDepth());
        BigEndian.putByte(
                body,
                43,
                peerResponseTimeout << 3 | (transport & 3) << 1 | (offer.flowControl() ? 1 : 0));
        MessageFields.putUpper24(body, 44, offer.sequence());
        BigEndian.putByte(body, 47, ownResponseTimeout << 3 | (receives ? retries : 0));
        BigEndian.putShort(body, 48, partitionKey);
        BigEndian.putByte(body, 50, path.mtu() << 4 | (receives ? offer.notReadyRetries() : 0));
        BigEndian.putByte(
                body,
                51,
                repeats << 4 | (receives && offer.sharedReceives() ? 1 : 0) << 3 | transport >> 2);
        BigEndian.putShort(body, 52, PERMISSIVE_LID);
        BigEndian.putShort(body, 54, PERMISSIVE_LID);
        MessageFields.putAddress(body, 56, path.local());
        MessageFields.putAddress(body, 72, path.remote());
        BigEndian.putInteger(body, 88, path.flowLabel() << 12 | RATE);
        BigEndian.putByte(body, 92, path.trafficClass());
        BigEndian.putByte(body, 93, path.hopLimit());
        BigEndian.putByte(body, 94, path.serviceLevel() << 4);
        BigEndian.putByte(body, 95, path.acknowledgeTimeout() << 3);
        MessageFields.putRest(body, PRIVATE_OFFSET, privateData);
    }
}
