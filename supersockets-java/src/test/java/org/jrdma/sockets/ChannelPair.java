package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** Two ends of a connection within this machine. */
record ChannelPair(SocketChannel client, SocketChannel server) implements AutoCloseable {

    private static final String PROPERTY = "jrdma.test.address";

    /** Loopback; where RDMA devices are to be reached, an address that one of them has. */
    static final InetAddress HERE =
            System.getProperty(PROPERTY) == null
                    ? InetAddress.getLoopbackAddress()
                    : InetAddress.ofLiteral(System.getProperty(PROPERTY));

    static final InetSocketAddress ANY_PORT = new InetSocketAddress(HERE, 0);

    /** What tells a process that this one starts of the address. */
    static String optionForChild() {
        return "-D%s=%s".formatted(PROPERTY, HERE.getHostAddress());
    }

    static ChannelPair open(SelectorProvider provider) throws IOException {
        try (var listener = listener(provider)) {
            var client = provider.openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new ChannelPair(client, listener.accept());
        }
    }

    /** Whose both ends have taken the way that the implementation is named for. */
    static ChannelPair open(Implementation implementation) throws IOException {
        for (var left = implementation.tries(); ; left--) {
            var pair = open(implementation.provider());
            if (implementation.isTaken(pair.client) && implementation.isTaken(pair.server)) {
                return pair;
            }
            try (pair) {
                if (left == 1) {
                    implementation.assertTaken(pair.client); // fails, and says why
                    implementation.assertTaken(pair.server);
                }
            }
        }
    }

    static ServerSocketChannel listener(SelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(ANY_PORT);
    }

    /** Writes until there is room for nothing more; how much. The channel does not block then. */
    static int fill(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        var written = 0;
        for (var more = 1; more > 0; written += more) {
            more = channel.write(ByteBuffer.allocate(50_000));
        }
        return written;
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
