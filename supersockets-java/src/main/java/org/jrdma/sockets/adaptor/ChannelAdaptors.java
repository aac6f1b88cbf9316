package org.jrdma.sockets.adaptor;

import org.jrdma.sockets.channel.Adaptors;

/** The sockets of {@code java.net} that adapt the channels of this module. */
public final class ChannelAdaptors {

    /** For programs that ask a channel for its socket. */
    public static final Adaptors OF_CHANNELS =
            new Adaptors(SocketAdaptor::of, ServerSocketAdaptor::new, DatagramSocketAdaptor::new);

    /** For programs that ask a factory for a socket. */
    public static final Adaptors OF_FACTORIES =
            new Adaptors(FactorySocket::of, FactoryServerSocket::new, DatagramSocketAdaptor::new);

    private ChannelAdaptors() {}
}
