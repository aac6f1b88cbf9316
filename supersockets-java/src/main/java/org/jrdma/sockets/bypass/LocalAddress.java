package org.jrdma.sockets.bypass;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * The address of who connects by a way past the kernel. Its methods may be called on any thread.
 */
public interface LocalAddress {

    /** The one by which the kernel would reach the peer. */
    InetAddress source() throws IOException;

    /** What the program has bound its channel to; empty if it has not. */
    Optional<InetSocketAddress> bound() throws IOException;

    /** Binds the channel to an address towards the peer, if it is not bound. */
    InetSocketAddress bind() throws IOException;
}
