package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** Two ends of a connection over loopback. */
record ChannelPair(SocketChannel client, SocketChannel server) implements AutoCloseable {

    static final InetSocketAddress ANY_PORT =
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    static ChannelPair open(SelectorProvider provider) throws IOException {
        try (var listener = listener(provider)) {
            var client = provider.openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new ChannelPair(client, listener.accept());
        }
    }

    static ServerSocketChannel listener(SelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(ANY_PORT);
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
