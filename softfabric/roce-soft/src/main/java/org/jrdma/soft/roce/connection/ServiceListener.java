package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A listener for the connect requests and SIDR requests of a service. It is called while the lock
 * of the engine's port is held. An implementation must neither block nor call the connection
 * manager.
 */
public interface ServiceListener {

    /**
     * The transport of the connections that the service accepts, one of the constants of {@link
     * ConnectRequest}; negative if it accepts no connections.
     */
    int transport();

    /**
     * Handles a connect request.
     *
     * @param data the private data after the header
     * @return the listener for the events of the connection; null to ignore the request, in which
     *     case the peer repeats it
     */
    ConnectionEvent.@Nullable Receiver requested(
            Connection connection, PrivateDataHeader header, MemorySegment data);

    /**
     * Handles a SIDR request.
     *
     * @param data the private data after the header
     * @return false to ignore the request, in which case the peer repeats it
     */
    boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data);
}
