package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/** Answers that a connection has ended, DREP. Its private data stays unread. */
public record DisconnectReply(long transaction, int localId, int remoteId) implements Message {

    static final int ATTRIBUTE = 0x16;

    static DisconnectReply decode(long transaction, MemorySegment body) {
        return new DisconnectReply(
                transaction, BigEndian.integer(body, 0), BigEndian.integer(body, 4));
    }

    /** The answer to a request. */
    static DisconnectReply to(DisconnectRequest request) {
        var here = request.remoteId();
        var there = request.localId();
        return new DisconnectReply(request.transaction(), here, there);
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
    }
}
