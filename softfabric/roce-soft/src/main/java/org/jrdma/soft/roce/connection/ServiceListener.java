package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A listener for the connect requests and SIDR requests to one service ID. Called by the thread
 * that drives the engine; must neither block nor call the connection manager.
 */
public interface ServiceListener {

    /**
     * Returns the transport type that connect requests must have, as in {@link ConnectRequest}; a
     * negative value rejects all connect requests.
     */
    int transport();

    /**
     * Handles a connect request.
     *
     * @param data the private data that follows the header
     * @return the listener for the events of the connection, or null to drop the request. The peer
     *     repeats a request that was dropped
     */
    ConnectionEvent.@Nullable Receiver requested(
            Connection connection, PrivateDataHeader header, MemorySegment data);

    /**
     * Handles a SIDR request.
     *
     * @param data the private data that follows the header
     * @return false to drop the request, which the peer then repeats
     */
    boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data);
}
