package org.jrdma.sockets.adaptor;

import org.jrdma.sockets.channel.Adaptors;

/** The adaptors that make sockets of {@code java.net} from the channels of this module. */
public final class ChannelAdaptors {

    /** The adaptors that the {@code socket} method of a channel returns. */
    public static final Adaptors OF_CHANNELS =
            new Adaptors(SocketAdaptor::of, ServerSocketAdaptor::new, DatagramSocketAdaptor::new);

    /** The adaptors whose sockets the socket factories return. */
    public static final Adaptors OF_FACTORIES =
            new Adaptors(FactorySocket::of, FactoryServerSocket::new, DatagramSocketAdaptor::new);

    private ChannelAdaptors() {}
}
