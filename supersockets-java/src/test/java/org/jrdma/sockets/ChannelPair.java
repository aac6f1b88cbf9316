package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** The two channels of a connection within this machine. */
record ChannelPair(SocketChannel client, SocketChannel server) implements AutoCloseable {

    private static final String PROPERTY = "jrdma.test.address";

    /**
     * The address of this machine. The system property {@code jrdma.test.address} sets it to the
     * address of an RDMA device; the default is the loopback address.
     */
    static final InetAddress ADDRESS =
            System.getProperty(PROPERTY) == null
                    ? InetAddress.getLoopbackAddress()
                    : InetAddress.ofLiteral(System.getProperty(PROPERTY));

    static final InetSocketAddress ANY_PORT = new InetSocketAddress(ADDRESS, 0);

    /** Returns the JVM option that passes the address to a child process. */
    static String optionForChild() {
        return "-D%s=%s".formatted(PROPERTY, ADDRESS.getHostAddress());
    }

    static ChannelPair open(SelectorProvider provider) throws IOException {
        try (var listener = listener(provider)) {
            var client = provider.openSocketChannel();
            client.connect(listener.getLocalAddress());
            return new ChannelPair(client, listener.accept());
        }
    }

    /**
     * Connects a pair, and asserts that both channels use the transport of the implementation.
     * Repeats the attempt as often as the implementation allows.
     */
    static ChannelPair open(Implementation implementation) throws IOException {
        for (var left = implementation.tries(); ; left--) {
            var pair = open(implementation.provider());
            if (implementation.usesTransport(pair.client)
                    && implementation.usesTransport(pair.server)) {
                return pair;
            }
            try (pair) {
                if (left == 1) {
                    implementation.assertTransport(pair.client); // Fails with the reason.
                    implementation.assertTransport(pair.server);
                }
            }
        }
    }

    static ServerSocketChannel listener(SelectorProvider provider) throws IOException {
        return provider.openServerSocketChannel().bind(ANY_PORT);
    }

    /**
     * Makes the channel non-blocking, writes until the send buffer is full, and returns the number
     * of bytes that were written.
     */
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
