package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Who listens for requests. On the thread that drives the engine: must neither wait nor call back.
 */
public interface ServiceListener {

    /** The kind of connections that it takes, as in {@link ConnectRequest}; below zero for none. */
    int transport();

    /**
     * A peer asks for a connection.
     *
     * @param data what follows the header in the private data
     * @return who is told what becomes of it; null for no room, when the peer may come again
     */
    ConnectionEvent.@Nullable Receiver requested(
            Connection connection, PrivateDataHeader header, MemorySegment data);

    /**
     * A peer asks where datagrams go.
     *
     * @return false for no room, when the peer may come again
     */
    boolean asked(SidrServer inquiry, PrivateDataHeader header, MemorySegment data);
}
