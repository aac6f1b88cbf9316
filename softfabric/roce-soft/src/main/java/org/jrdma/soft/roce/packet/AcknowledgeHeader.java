package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * The header with the result of a request (AETH).
 *
 * @param syndrome the kind of answer in the upper three bits, and its details in the lower five
 * @param messages the number of messages that the responder has executed (MSN), 24 bits
 */
public record AcknowledgeHeader(int syndrome, int messages) {

    public static final int BYTES = 4;

    /** The syndrome of an ACK without a credit count. */
    public static final int ACKNOWLEDGED = 0x1f;

    /** The syndrome of an RNR NAK: no receive is posted. It is combined with a timer code by OR. */
    public static final int RECEIVER_NOT_READY = 0x20;

    /** The syndrome of a NAK that asks for retransmission because a packet is missing. */
    public static final int SEQUENCE_ERROR = 0x60;

    public static final int INVALID_REQUEST = 0x61;
    public static final int REMOTE_ACCESS_ERROR = 0x62;
    public static final int REMOTE_OPERATION_ERROR = 0x63;

    /** Decodes a header from its 4 bytes at an offset. Any bytes are a valid header. */
    public static AcknowledgeHeader decode(MemorySegment memory, long offset) {
        var word = BigEndian.integer(memory, offset);
        return new AcknowledgeHeader(word >>> 24, word & 0xff_ffff);
    }

    /** Encodes a header at an offset, without an object for the header. */
    public static void encode(MemorySegment memory, long offset, int syndrome, int messages) {
        BigEndian.putInteger(memory, offset, syndrome << 24 | messages);
    }

    public boolean isAcknowledgement() {
        return isAcknowledgement(syndrome);
    }

    /** Returns true if a syndrome is that of a positive acknowledgement. */
    static boolean isAcknowledgement(int syndrome) {
        return syndrome >> 5 == 0;
    }

    public boolean isReceiverNotReady() {
        return syndrome >> 5 == RECEIVER_NOT_READY >> 5;
    }

    /** Returns the timer code of an {@linkplain #isReceiverNotReady() RNR NAK}. */
    public int timerCode() {
        return syndrome & 0x1f;
    }
}
