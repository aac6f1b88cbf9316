package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;

/**
 * How a request fared, AETH.
 *
 * @param syndrome three bits that say {@link #isAcknowledgement() what it is}, five that say more
 * @param messages how many messages the responder has carried out, in 24 bits
 */
public record AcknowledgeHeader(int syndrome, int messages) {

    public static final int BYTES = 4;

    /** An acknowledgement that does not count the receives left. */
    public static final int ACKNOWLEDGED = 0x1f;

    /** To be or-ed with a timer code: come again after that time, a receive is missing. */
    public static final int RECEIVER_NOT_READY = 0x20;

    public static final int SEQUENCE_ERROR = 0x60;
    public static final int INVALID_REQUEST = 0x61;
    public static final int REMOTE_ACCESS_ERROR = 0x62;
    public static final int REMOTE_OPERATION_ERROR = 0x63;

    /** Reads 4 bytes, which must be there; any are valid. */
    public static AcknowledgeHeader decode(MemorySegment memory, long offset) {
        var word = BigEndian.integer(memory, offset);
        return new AcknowledgeHeader(word >>> 24, word & 0xff_ffff);
    }

    public void encode(MemorySegment memory, long offset) {
        BigEndian.putInteger(memory, offset, syndrome << 24 | messages);
    }

    public boolean isAcknowledgement() {
        return syndrome >> 5 == 0;
    }

    public boolean isReceiverNotReady() {
        return syndrome >> 5 == RECEIVER_NOT_READY >> 5;
    }

    /** The timer code of {@link #isReceiverNotReady()}. */
    public int timerCode() {
        return syndrome & 0x1f;
    }
}
