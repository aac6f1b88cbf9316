package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.MalformedPacketException;

/**
 * A message between connection managers: a management datagram (MAD) of the communication
 * management class. In implementations, offsets are relative to the end of the common header.
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

    /** The length of a message, including the header, in bytes. */
    int BYTES = 256;

    /** The length of the common header in bytes. */
    int HEADER_BYTES = 24;

    /**
     * The first four bytes of each message: base version 1, management class 7, class version 2,
     * and method SEND (3).
     */
    int KIND = 0x01_07_02_03;

    /** The offset of the transaction ID in the common header. */
    int TRANSACTION_OFFSET = 8;

    /** The offset of the attribute ID in the common header. */
    int ATTRIBUTE_OFFSET = 16;

    /** The offset of the attribute modifier in the common header. */
    int MODIFIER_OFFSET = 20;

    /** A segment of length 0, for messages without private data. */
    MemorySegment NO_DATA = MemorySegment.ofArray(new byte[0]);

    /** Returns the attribute ID, which identifies the kind of message. */
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
     * Returns the attribute modifier. It contains {@link EceOptions#options} in messages that carry
     * ECE options, and is 0 in other messages.
     */
    default int modifier() {
        return 0;
    }

    /**
     * Returns the transaction ID. The sender of a request chooses it, and the answers to the
     * request repeat it.
     */
    long transaction();

    /**
     * Encodes the part of the message after the common header.
     *
     * @param body the memory after the common header, filled with zeros
     */
    void encodeBody(MemorySegment body);

    /** Returns the encoded message, including the common header. */
    default MemorySegment encode() {
        var memory = MemorySegment.ofArray(new byte[BYTES]);
        BigEndian.putInteger(memory, 0, KIND);
        BigEndian.putLongInteger(memory, TRANSACTION_OFFSET, transaction());
        BigEndian.putShort(memory, ATTRIBUTE_OFFSET, attribute());
        BigEndian.putInteger(memory, MODIFIER_OFFSET, modifier());
        encodeBody(memory.asSlice(HEADER_BYTES));
        return memory;
    }

    /** Decodes a message. The result does not refer to {@code datagram}. */
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
     * Returns the abbreviation of a message in the specification, such as REQ, or an empty string
     * if the datagram is not such a message.
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
