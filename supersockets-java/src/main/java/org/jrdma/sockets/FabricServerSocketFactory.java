package org.jrdma.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;
import javax.net.ServerSocketFactory;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.SocketAdaptorFactories;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jspecify.annotations.Nullable;

/**
 * A factory of server sockets over the fastest available transport, for programs that use {@link
 * ServerSocket} and load a factory by its class name. The server sockets, and the sockets that they
 * accept, behave like the sockets of {@link FabricSocketFactory}. Safe for use by multiple threads.
 */
public final class FabricServerSocketFactory extends ServerSocketFactory {

    private static final SocketAdaptorFactories ADAPTORS = ChannelAdaptors.OF_FACTORIES;

    private final FabricSelectorProvider provider;

    /**
     * Creates a factory that uses the transports of the policy file, or otherwise of the system
     * property {@code jrdma.sockets.transports}. Programs that load the factory by its class name
     * call this constructor by reflection.
     */
    public FabricServerSocketFactory() {
        provider = new FabricSelectorProvider(Preferences::configured, ADAPTORS);
    }

    /**
     * Creates a factory that uses the first transport of a list that is usable on this machine. The
     * policy file is ignored.
     *
     * @param preferred the transports, the most preferred first
     */
    public FabricServerSocketFactory(List<Transport> preferred) {
        var preferences = Preferences.of(preferred);
        provider = new FabricSelectorProvider(() -> preferences, ADAPTORS);
    }

    /** Returns a new factory, for programs that call this method by reflection, as JNDI does. */
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
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }
}
