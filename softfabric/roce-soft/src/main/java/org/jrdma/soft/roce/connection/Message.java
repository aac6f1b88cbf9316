package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.MalformedPacketException;

/**
 * A message between connection managers: a management datagram (MAD) of the class of communication
 * management. Offsets in the messages' tables count from behind the header that all have.
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

    /** The length of each. */
    int BYTES = 256;

    /** The length of the header. */
    int HEADER_BYTES = 24;

    /** Management's version, class 7, the class's version, method SEND, each a byte. */
    int KIND = 0x01_07_02_03;

    int TRANSACTION_OFFSET = 8;
    int ATTRIBUTE_OFFSET = 16;
    int MODIFIER_OFFSET = 20;

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

    /** The {@link EceOptions} that the header adds, if present. */
    default int modifier() {
        return 0;
    }

    /** What tells a sender's exchanges apart; an answer repeats it. */
    long transaction();

    /** Fills what is behind the header, which is zeros. */
    void encodeBody(MemorySegment body);

    /** All of it. */
    default MemorySegment encode() {
        var memory = MemorySegment.ofArray(new byte[BYTES]);
        BigEndian.putInteger(memory, 0, KIND);
        BigEndian.putLongInteger(memory, TRANSACTION_OFFSET, transaction());
        BigEndian.putShort(memory, ATTRIBUTE_OFFSET, attribute());
        BigEndian.putInteger(memory, MODIFIER_OFFSET, modifier());
        encodeBody(memory.asSlice(HEADER_BYTES));
        return memory;
    }

    /** Reads one. What it holds of the datagram are copies. */
    static Message decode(MemorySegment datagram) throws MalformedPacketException {
        if (datagram.byteSize() != BYTES) {
            throw new MalformedPacketException("management datagram of another length");
        }
        if (BigEndian.integer(datagram, 0) != KIND) {
            throw new MalformedPacketException("management datagram of another class");
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

    /** The name that the specification gives a message in a datagram; empty for what is none. */
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
