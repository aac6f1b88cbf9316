package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that confirms a reply and establishes the connection (RTU). Private data of the peer
 * is ignored, because librdmacm does not use it.
 */
public record ReadyToUse(long transaction, int localId, int remoteId) implements Message {

    static final int ATTRIBUTE = 0x14;

    static ReadyToUse decode(long transaction, MemorySegment body) {
        return new ReadyToUse(transaction, BigEndian.integer(body, 0), BigEndian.integer(body, 4));
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
    }
}
