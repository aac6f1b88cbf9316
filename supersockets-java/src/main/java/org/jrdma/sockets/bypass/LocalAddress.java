package org.jrdma.sockets.bypass;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The local address of a channel that connects over a kernel bypass. Any thread may call the
 * methods.
 */
public interface LocalAddress {

    /** Returns the source address that the kernel would use to reach the peer. */
    InetAddress source() throws IOException;

    /** Returns the address that the program has bound the channel to; empty if it is not bound. */
    Optional<InetSocketAddress> bound() throws IOException;

    /** Binds the channel to an address from which the peer can be reached, unless it is bound. */
    InetSocketAddress bind() throws IOException;
}
