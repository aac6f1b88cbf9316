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
     * Returns a connection attempt, which does nothing before {@link BypassConnector#start}.
     *
     * @param address the address to connect to
     * @param receiveBuffer the receive buffer size that the program has set; 0 if none
     * @param local the local address of the channel; its methods are called on another thread
     * @param onFailure receives the reason of a failure, on that thread, before the attempt is
     *     completed
     * @throws FabricException if this machine cannot use the transport
     */
    BypassConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LocalAddress local,
            Consumer<String> onFailure)
            throws FabricException;

    /**
     * Listens at an address. May block briefly.
     *
     * @throws FabricException if this machine cannot use the transport; with the code EADDRINUSE if
     *     the port is in use
     */
    BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException;

    /** Returns the time for which a waiting thread spins, by default 30 microseconds. */
    default long spinNanos() {
        return 1_000 * Math.max(0, Long.getLong("jrdma.sockets." + name() + ".spin", 30));
    }
}
