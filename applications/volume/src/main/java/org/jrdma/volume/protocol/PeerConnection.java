package org.jrdma.volume.protocol;

import java.nio.ByteBuffer;
import java.time.Duration;
import org.jrdma.ffi.FabricException;

/** A connection to another node that can be called. */
@FunctionalInterface
public interface PeerConnection {

    /**
     * Sends a request and waits for the reply.
     *
     * @throws FabricException if the connection fails or there is no reply in time; the node may
     *     have executed the request
     */
    ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException;
}
