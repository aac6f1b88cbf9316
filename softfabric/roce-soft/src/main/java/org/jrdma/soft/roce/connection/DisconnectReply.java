package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that confirms the end of a connection (DREP). Private data of the peer is ignored.
 */
public record DisconnectReply(long transaction, int localId, int remoteId) implements Message {

    static final int ATTRIBUTE = 0x16;

    static DisconnectReply decode(long transaction, MemorySegment body) {
        return new DisconnectReply(
                transaction, BigEndian.integer(body, 0), BigEndian.integer(body, 4));
    }

    /** Returns the reply to a disconnect request. */
    static DisconnectReply to(DisconnectRequest request) {
        return new DisconnectReply(
                request.transaction(),
                /* localId= */ request.remoteId(),
                /* remoteId= */ request.localId());
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
    }
}
