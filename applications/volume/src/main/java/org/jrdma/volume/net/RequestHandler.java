package org.jrdma.volume.net;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Handles the requests of peers. Must be safe for use by multiple threads. */
@FunctionalInterface
public interface RequestHandler {

    /** A handler that rejects all requests, for a client that is not called. */
    RequestHandler NONE =
            _ -> {
                throw new IOException("This node handles no requests.");
            };

    /**
     * Handles a request. Runs on a virtual thread for each request, and may block. The number of
     * concurrent requests of a connection is limited by {@link NodeOptions#calls}.
     *
     * @return the reply, of at most {@link NodeConnection#MAX_MESSAGE_BYTES} bytes
     * @throws IOException if the request fails; the caller receives the message in a {@link
     *     RequestFailedException}
     */
    ByteBuffer handle(Request request) throws IOException;

    /** Reports a connection that a listener has accepted, before its first request. */
    default void connected(NodeConnection connection) {}

    /** Reports that a connection has ended, after its last request was handled. */
    default void disconnected(NodeConnection connection, ConnectionLostException reason) {}
}
