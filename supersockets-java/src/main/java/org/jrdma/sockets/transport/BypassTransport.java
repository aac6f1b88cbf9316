package org.jrdma.sockets.transport;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LocalAddress;

/**
 * A transport that bypasses the kernel's sockets. Its channels also own a TCP socket, which holds
 * the port and the options, and connects to peers that the bypass cannot reach.
 */
public non-sealed interface BypassTransport extends StreamTransport {

    /**
     * Returns a connector, which connects once it is {@linkplain BypassConnector#begin begun}.
     *
     * @param receiveBuffer the receive buffer size that the program has set; 0 if none
     * @param own finds out the local address; called on another thread
     * @param refused called with the reason on that thread, before there is an outcome
     * @throws FabricException if this machine cannot use it
     */
    BypassConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LocalAddress own,
            Consumer<String> refused)
            throws FabricException;

    /**
     * Listens at an address. May block for a moment.
     *
     * @throws FabricException if this machine cannot use it; with EADDRINUSE for its code if the
     *     port is not free
     */
    BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException;

    /** How long a waiting thread spins before it sleeps: by default 30 microseconds. */
    default long spinNanos() {
        return 1_000 * Math.max(0, Long.getLong("jrdma.sockets." + name() + ".spin", 30));
    }
}
