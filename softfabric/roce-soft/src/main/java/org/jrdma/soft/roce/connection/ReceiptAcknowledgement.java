package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that acknowledges the receipt of a request or a reply that the program has not
 * answered yet (MRA). It lets the peer wait longer before it repeats its message. Private data of
 * the peer is ignored.
 *
 * @param answered the kind of message that this message acknowledges
 * @param serviceTimeout the exponent of the time within which the answer is expected, in units of
 *     4.096 us
 */
public record ReceiptAcknowledgement(
        long transaction, int localId, int remoteId, AnsweredKind answered, int serviceTimeout)
        implements Message {

    static final int ATTRIBUTE = 0x11;

    static ReceiptAcknowledgement decode(long transaction, MemorySegment body) {
        return new ReceiptAcknowledgement(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                AnsweredKind.of(BigEndian.unsignedByte(body, 8) >> 6),
                BigEndian.unsignedByte(body, 9) >> 3);
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        BigEndian.putByte(body, 8, answered.code() << 6);
        BigEndian.putByte(body, 9, serviceTimeout << 3);
    }
}
