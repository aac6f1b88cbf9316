package org.jrdma.sockets.bypass;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * Binds a channel that connects over a {@link BypassConnector} to its local address. The address is
 * determined, and the channel is bound, only when the transport needs it. Safe for use by multiple
 * threads.
 */
public interface LazyBinding {

    /** Returns the source address that the kernel would use for packets to the peer. */
    InetAddress source() throws IOException;

    /** Returns the address to which the program has bound the channel; empty if it is not bound. */
    Optional<InetSocketAddress> bound() throws IOException;

    /**
     * Returns the local address and port from which the channel reaches the peer. If the channel
     * has no port yet, binds it to that address and a free port.
     */
    InetSocketAddress bind() throws IOException;
}
