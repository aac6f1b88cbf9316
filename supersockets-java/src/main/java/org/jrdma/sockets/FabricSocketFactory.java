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
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.Adaptors;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;

/**
 * Sockets for programs that use {@link Socket} and take a factory by its name. They fail as those
 * of {@link SocketFactory#getDefault()} do, {@code SocketException: Socket closed} where another
 * thread closes them. Two things differ: they have a channel, and an interrupt closes them on
 * threads of the platform too. Safe for use by several threads.
 */
public final class FabricSocketFactory extends SocketFactory {

    private static final Adaptors ADAPTORS = ChannelAdaptors.OF_FACTORIES;
    private static final Duration WITHOUT_END = Duration.ofSeconds(Long.MAX_VALUE);

    private final Supplier<Preferences> preferences;
    private final FabricSelectorProvider provider;

    /** Over the configured transports; for whoever makes it by its name. */
    public FabricSocketFactory() {
        this(Preferences::configured);
    }

    /** Over the first of these transports that leads to the peer, whatever the policy. */
    public FabricSocketFactory(List<Transport> preferred) {
        this(fixed(Preferences.of(preferred)));
    }

    private FabricSocketFactory(Supplier<Preferences> preferences) {
        this.preferences = preferences;
        this.provider = new FabricSelectorProvider(preferences, ADAPTORS);
    }

    private static Supplier<Preferences> fixed(Preferences preferences) {
        return () -> preferences;
    }

    /** For programs that ask the class for one, as JNDI does. */
    public static SocketFactory getDefault() {
        return new FabricSocketFactory();
    }

    @Override
    public Socket createSocket() throws IOException {
        return provider.openSocketChannel().socket();
    }

    /** Connects over the first transport and to the first address of the host that work. */
    @Override
    public Socket createSocket(String host, int port) throws IOException {
        InetAddress[] addresses = PlatformCalls.call(() -> InetAddress.getAllByName(host));
        return connect(host, addresses, port);
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connect(host.getHostAddress(), new InetAddress[] {host}, port);
    }

    private Socket connect(String host, InetAddress[] addresses, int port) throws IOException {
        try {
            var deadline = Deadline.after(WITHOUT_END);
            return FabricSockets.connect(
                            host, addresses, port, preferences.get(), deadline, ADAPTORS)
                    .socket();
        } catch (FabricException e) {
            throw asOfSockets(e);
        }
    }

    /** The exception that programs of the JDK's sockets catch: like that of the last transport. */
    private static IOException asOfSockets(FabricException failure) {
        var all = failure.getSuppressed();
        var told =
                switch (all.length == 0 ? failure : all[all.length - 1]) {
                    case ConnectException _ -> new ConnectException(failure.getMessage());
                    case NoRouteToHostException _ ->
                            new NoRouteToHostException(failure.getMessage());
                    default -> failure;
                };
        if (told != failure) {
            told.initCause(failure);
        }
        return told;
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort)
            throws IOException {
        InetAddress[] addresses = PlatformCalls.call(() -> InetAddress.getAllByName(host));
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
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }
}
