package org.jrdma.sockets.transport;

import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.BypassListener;
import org.jrdma.sockets.bypass.LazyBinding;

/**
 * A transport that does not use kernel sockets to transfer bytes. A channel over such a transport
 * also has a kernel socket, which holds the port and the options of the channel. It is connected if
 * no such transport reaches the peer, unless the program excludes kernel sockets.
 */
public non-sealed interface BypassTransport extends StreamTransport {

    /**
     * Creates a connection attempt. The caller starts it with {@link BypassConnector#start}.
     *
     * @param address the address to connect to
     * @param receiveBuffer the receive buffer size in bytes that the program has set; 0 if it has
     *     set none
     * @param binding binds the channel to its local address; its methods are called on the thread
     *     of the attempt
     * @param onFailure receives the reason if the attempt fails. It is called on the thread of the
     *     attempt, before {@link BypassConnector#isDone} returns true.
     * @throws FabricException if this machine cannot use the transport
     */
    BypassConnector connect(
            InetSocketAddress address,
            int receiveBuffer,
            LazyBinding binding,
            Consumer<String> onFailure)
            throws FabricException;

    /**
     * Listens at an address. May block briefly.
     *
     * @param backlog the requested length of the accept queue
     * @param receiveBuffer the receive buffer size in bytes for accepted streams; 0 for the default
     * @throws FabricException if this machine cannot use the transport; with the code EADDRINUSE if
     *     the port is in use
     */
    BypassListener listen(InetSocketAddress address, int backlog, int receiveBuffer)
            throws FabricException;

    /**
     * Returns the maximum number of nanoseconds for which a waiting thread spins before it sleeps.
     * A system property for each transport, for example {@code jrdma.sockets.rsocket.spin}, sets
     * the number in microseconds; the default is 100 microseconds.
     */
    default long spinNanos() {
        return 1_000 * Math.max(0, Long.getLong("jrdma.sockets." + name() + ".spin", 100));
    }
}
