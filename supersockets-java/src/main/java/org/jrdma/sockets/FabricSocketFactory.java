package org.jrdma.sockets;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import javax.net.SocketFactory;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.SocketAdaptorFactories;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;

/**
 * A factory of sockets over the fastest available transport, for programs that use {@link Socket}
 * and load a factory by its class name.
 *
 * <p>The sockets throw the same exceptions as the sockets of {@link SocketFactory#getDefault()},
 * for example {@code SocketException: Socket closed} if another thread closes the socket. They
 * differ in two ways: they have a channel, and interrupting a thread that uses a socket closes the
 * socket, also if the thread is a platform thread. Safe for use by multiple threads.
 */
public final class FabricSocketFactory extends SocketFactory {

    private static final SocketAdaptorFactories ADAPTORS = ChannelAdaptors.OF_FACTORIES;
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final Supplier<Preferences> preferences;
    private final FabricSelectorProvider provider;

    /**
     * Creates a factory that uses the transports of the policy file, or otherwise of the system
     * property {@code jrdma.sockets.transports}. Programs that load the factory by its class name
     * call this constructor by reflection.
     */
    public FabricSocketFactory() {
        this(Preferences::configured);
    }

    /**
     * Creates a factory that uses the first transport of a list that reaches the peer. The policy
     * file is ignored.
     *
     * @param preferred the transports, the most preferred first
     */
    public FabricSocketFactory(List<Transport> preferred) {
        this(Preferences.of(preferred));
    }

    private FabricSocketFactory(Preferences preferences) {
        this(() -> preferences);
    }

    private FabricSocketFactory(Supplier<Preferences> preferences) {
        this.preferences = preferences;
        this.provider = new FabricSelectorProvider(preferences, ADAPTORS);
    }

    /** Returns a new factory, for programs that call this method by reflection, as JNDI does. */
    public static SocketFactory getDefault() {
        return new FabricSocketFactory();
    }

    @Override
    public Socket createSocket() throws IOException {
        return provider.openSocketChannel().socket();
    }

    /**
     * Connects to a host. Tries all addresses of the host over the first transport, then all
     * addresses over the second transport, and so on, until one attempt succeeds.
     */
    @Override
    public Socket createSocket(String host, int port) throws IOException {
        InetAddress[] addresses = BlockingCalls.call(() -> InetAddress.getAllByName(host));
        return connect(host, addresses, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connect(host.getHostAddress(), new InetAddress[] {host}, port);
    }

    private Socket connect(String host, InetAddress[] addresses, int port) throws IOException {
        try {
            var deadline = Deadline.after(FOREVER);
            return FabricSockets.connect(
                            host, addresses, port, preferences.get(), deadline, ADAPTORS)
                    .socket();
        } catch (FabricException e) {
            throw socketException(e);
        }
    }

    /**
     * Returns the exception to throw after all transports have failed. If the last attempt failed
     * with a ConnectException or a NoRouteToHostException, the exception has that type, because
     * programs often catch these types.
     */
    private static IOException socketException(FabricException failure) {
        var all = failure.getSuppressed();
        var converted =
                switch (all.length == 0 ? failure : all[all.length - 1]) {
                    case ConnectException _ -> new ConnectException(failure.getMessage());
                    case NoRouteToHostException _ ->
                            new NoRouteToHostException(failure.getMessage());
                    default -> failure;
                };
        if (converted != failure) {
            converted.initCause(failure);
        }
        return converted;
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
            throws IOException {
        InetAddress[] addresses = BlockingCalls.call(() -> InetAddress.getAllByName(host));
        return createSocket(addresses[0], port, localHost, localPort);
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort)
            throws IOException {
        var socket = createSocket();
        try {
            socket.bind(new InetSocketAddress(localHost, localPort));
            socket.connect(new InetSocketAddress(host, port));
            return socket;
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }
}
