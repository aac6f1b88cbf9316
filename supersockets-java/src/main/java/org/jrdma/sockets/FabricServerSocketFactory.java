package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import javax.net.ServerSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * Listening sockets over the configured transports, for programs that use {@link ServerSocket} and
 * take a factory by its name. Safe for use by several threads.
 */
public final class FabricServerSocketFactory extends ServerSocketFactory {

    private static final FabricSelectorProvider PROVIDER = new FabricSelectorProvider();

    /** For whoever makes it by its name. */
    public FabricServerSocketFactory() {}

    /** For programs that ask the class for one, as JNDI does. */
    public static ServerSocketFactory getDefault() {
        return new FabricServerSocketFactory();
    }

    @Override
    public ServerSocket createServerSocket() throws IOException {
        return PROVIDER.openServerSocketChannel().socket();
    }

    @Override
    public ServerSocket createServerSocket(int port) throws IOException {
        return createServerSocket(port, 0, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog) throws IOException {
        return createServerSocket(port, backlog, null);
    }

    @Override
    public ServerSocket createServerSocket(int port, int backlog, @Nullable InetAddress address)
            throws IOException {
        var socket = createServerSocket();
        try {
            socket.bind(new InetSocketAddress(address, port), backlog);
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }
}
