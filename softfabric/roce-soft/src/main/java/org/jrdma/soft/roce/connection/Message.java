package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.MalformedPacketException;

/**
 * A message between connection managers: a management datagram (MAD) of the communication
 * management class. The offsets of fields in the implementations of this interface are relative to
 * the end of the common header.
 */
public sealed interface Message
        permits ConnectRequest,
                ConnectReply,
                ReadyToUse,
                Rejection,
                ReceiptAcknowledgement,
                DisconnectRequest,
                DisconnectReply,
                SidrRequest,
                SidrReply {

    /** The length of a message in bytes. */
    int BYTES = 256;

    /** The length of the common header in bytes. */
    int HEADER_BYTES = 24;

    /**
     * The first 4 bytes of each message: the base version (1), the management class (7), the class
     * version (2) and the method SEND (3).
     */
    int KIND = 0x01_07_02_03;

    int TRANSACTION_OFFSET = 8;
    int ATTRIBUTE_OFFSET = 16;
    int MODIFIER_OFFSET = 20;

    /** Empty private data. */
    MemorySegment NO_DATA = MemorySegment.ofArray(new byte[0]);

    /** The attribute ID of the message. */
    default int attribute() {
        return switch (this) {
            case ConnectRequest _ -> ConnectRequest.ATTRIBUTE;
            case ConnectReply _ -> ConnectReply.ATTRIBUTE;
            case ReadyToUse _ -> ReadyToUse.ATTRIBUTE;
            case Rejection _ -> Rejection.ATTRIBUTE;
            case ReceiptAcknowledgement _ -> ReceiptAcknowledgement.ATTRIBUTE;
            case DisconnectRequest _ -> DisconnectRequest.ATTRIBUTE;
            case DisconnectReply _ -> DisconnectReply.ATTRIBUTE;
            case SidrRequest _ -> SidrRequest.ATTRIBUTE;
            case SidrReply _ -> SidrReply.ATTRIBUTE;
        };
    }

    /**
     * The attribute modifier in the common header. It contains the option bits of {@link
     * EceOptions} in a connect request or a reply, and is 0 in other messages.
     */
    default int modifier() {
        return 0;
    }

    /**
     * The transaction ID, which identifies an exchange of messages. The answer to a message has the
     * same transaction ID.
     */
    long transaction();

    /** Encodes the fields after the common header into memory that is filled with zeros. */
    void encodeBody(MemorySegment body);

    /** Returns the encoded message, beginning with the common header. */
    default MemorySegment encode() {
        var memory = MemorySegment.ofArray(new byte[BYTES]);
        BigEndian.putInteger(memory, 0, KIND);
        BigEndian.putLongInteger(memory, TRANSACTION_OFFSET, transaction());
        BigEndian.putShort(memory, ATTRIBUTE_OFFSET, attribute());
        BigEndian.putInteger(memory, MODIFIER_OFFSET, modifier());
        encodeBody(memory.asSlice(HEADER_BYTES));
        return memory;
    }

    /**
     * Decodes a message. The returned object does not refer to the memory of the datagram.
     *
     * @throws MalformedPacketException if the datagram is not a valid message
     */
    static Message decode(MemorySegment datagram) throws MalformedPacketException {
        if (datagram.byteSize() != BYTES) {
            throw new MalformedPacketException("unexpected length of a management datagram");
        }
        if (BigEndian.integer(datagram, 0) != KIND) {
            throw new MalformedPacketException("unexpected class of a management datagram");
        }
        var transaction = BigEndian.longInteger(datagram, TRANSACTION_OFFSET);
        var modifier = BigEndian.integer(datagram, MODIFIER_OFFSET);
        var body = datagram.asSlice(HEADER_BYTES);
        return switch (BigEndian.unsignedShort(datagram, ATTRIBUTE_OFFSET)) {
            case ConnectRequest.ATTRIBUTE -> ConnectRequest.decode(transaction, modifier, body);
            case ConnectReply.ATTRIBUTE -> ConnectReply.decode(transaction, modifier, body);
            case ReadyToUse.ATTRIBUTE -> ReadyToUse.decode(transaction, body);
            case Rejection.ATTRIBUTE -> Rejection.decode(transaction, body);
            case ReceiptAcknowledgement.ATTRIBUTE ->
                    ReceiptAcknowledgement.decode(transaction, body);
            case DisconnectRequest.ATTRIBUTE -> DisconnectRequest.decode(transaction, body);
            case DisconnectReply.ATTRIBUTE -> DisconnectReply.decode(transaction, body);
            case SidrRequest.ATTRIBUTE -> SidrRequest.decode(transaction, body);
            case SidrReply.ATTRIBUTE -> SidrReply.decode(transaction, body);
            default -> throw new MalformedPacketException("unknown management attribute");
        };
    }

    /**
     * Returns the abbreviation that the specification uses for the kind of a message, such as
     * {@code REQ}, or an empty string if the datagram is not a known message.
     */
    static String name(MemorySegment datagram) {
        if (datagram.byteSize() != BYTES || BigEndian.integer(datagram, 0) != KIND) {
            return "";
        }
        return switch (BigEndian.unsignedShort(datagram, ATTRIBUTE_OFFSET)) {
            case ConnectRequest.ATTRIBUTE -> "REQ";
            case ConnectReply.ATTRIBUTE -> "REP";
            case ReadyToUse.ATTRIBUTE -> "RTU";
            case Rejection.ATTRIBUTE -> "REJ";
            case ReceiptAcknowledgement.ATTRIBUTE -> "MRA";
            case DisconnectRequest.ATTRIBUTE -> "DREQ";
            case DisconnectReply.ATTRIBUTE -> "DREP";
            case SidrRequest.ATTRIBUTE -> "SIDR_REQ";
            case SidrReply.ATTRIBUTE -> "SIDR_REP";
            default -> "";
        };
    }
}
