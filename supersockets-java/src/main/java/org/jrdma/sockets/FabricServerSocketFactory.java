package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import javax.net.ServerSocketFactory;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.Adaptors;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jspecify.annotations.Nullable;

/**
 * Listening sockets for programs that use {@link ServerSocket} and take a factory by its name. They
 * and what they accept are as {@link FabricSocketFactory} has it. Safe for use by several threads.
 */
public final class FabricServerSocketFactory extends ServerSocketFactory {

    private static final Adaptors ADAPTORS = ChannelAdaptors.OF_FACTORIES;

    private final FabricSelectorProvider provider;

    /** Over the configured transports; for whoever makes it by its name. */
    public FabricServerSocketFactory() {
        provider = new FabricSelectorProvider(Preferences::configured, ADAPTORS);
    }

    /** Over the first of these transports that this machine can use, whatever the policy. */
    public FabricServerSocketFactory(List<Transport> preferred) {
        var preferences = Preferences.of(preferred);
        provider = new FabricSelectorProvider(() -> preferences, ADAPTORS);
    }

    /** For programs that ask the class for one, as JNDI does. */
    public static ServerSocketFactory getDefault() {
        return new FabricServerSocketFactory();
    }

    @Override
    public ServerSocket createServerSocket() throws IOException {
        return provider.openServerSocketChannel().socket();
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
