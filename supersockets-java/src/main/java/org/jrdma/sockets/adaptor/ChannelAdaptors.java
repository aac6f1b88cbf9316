package org.jrdma.sockets.adaptor;

import org.jrdma.sockets.channel.SocketAdaptorFactories;

/** Creates {@code java.net} sockets that use the channels of this module. */
public final class ChannelAdaptors {

    /** For the {@code socket} method of a channel. */
    public static final SocketAdaptorFactories OF_CHANNELS =
            new SocketAdaptorFactories(
                    SocketAdaptor::of, ServerSocketAdaptor::new, DatagramSocketAdaptor::new);

    /** For the sockets that the socket factories return. */
    public static final SocketAdaptorFactories OF_FACTORIES =
            new SocketAdaptorFactories(
                    FactorySocket::of, FactoryServerSocket::new, DatagramSocketAdaptor::new);

    private ChannelAdaptors() {}
}
