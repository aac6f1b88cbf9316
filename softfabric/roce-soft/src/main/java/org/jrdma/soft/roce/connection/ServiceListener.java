package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A listener for connection requests and SIDR requests, called by the thread that drives the
 * engine. Must neither block nor call back.
 */
public interface ServiceListener {

    /**
     * Returns the transport that the service accepts, as in {@link ConnectRequest}; negative for
     * none.
     */
    int transport();

    /**
     * Handles a connection request.
     *
     * @param data the private data after the header
     * @return the listener for the connection; null to drop the request, which the peer repeats
     */
    ConnectionEvent.@Nullable Receiver requested(
            Connection connection, PrivateDataHeader header, MemorySegment data);

    /**
     * Handles a SIDR request.
     *
     * @return false to drop the request, which the peer repeats
     */
    boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data);
}
