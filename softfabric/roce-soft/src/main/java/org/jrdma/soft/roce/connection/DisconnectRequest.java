package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.packet.BigEndian;

/**
 * The message that ends a connection (DREQ). Private data of the peer is ignored.
 *
 * @param remoteQueuePair the number of the receiver's queue pair
 */
public record DisconnectRequest(long transaction, int localId, int remoteId, int remoteQueuePair)
        implements Message {

    static final int ATTRIBUTE = 0x15;

    static DisconnectRequest decode(long transaction, MemorySegment body) {
        return new DisconnectRequest(
                transaction,
                BigEndian.integer(body, 0),
                BigEndian.integer(body, 4),
                MessageFields.upper24(body, 8));
    }

    @Override
    public void encodeBody(MemorySegment body) {
        BigEndian.putInteger(body, 0, localId);
        BigEndian.putInteger(body, 4, remoteId);
        MessageFields.putUpper24(body, 8, remoteQueuePair);
    }
}
