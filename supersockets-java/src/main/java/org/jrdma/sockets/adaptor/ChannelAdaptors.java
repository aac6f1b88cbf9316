package org.jrdma.sockets.adaptor;

import org.jrdma.sockets.channel.Adaptors;

/** Creates {@code java.net} sockets that use the channels of this module. */
public final class ChannelAdaptors {

    /** For the {@code socket} method of a channel. */
    public static final Adaptors OF_CHANNELS =
            new Adaptors(SocketAdaptor::of, ServerSocketAdaptor::new, DatagramSocketAdaptor::new);

    /** For the sockets that the socket factories return. */
    public static final Adaptors OF_FACTORIES =
            new Adaptors(FactorySocket::of, FactoryServerSocket::new, DatagramSocketAdaptor::new);

    private ChannelAdaptors() {}
}
