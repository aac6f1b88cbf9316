package org.jrdma.sockets;

import java.io.IOException;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.FabricSelector;
import org.jrdma.sockets.channel.ListenerChannel;
import org.jrdma.sockets.channel.SelectablePipe;
import org.jrdma.sockets.channel.SelectedTransport;
import org.jrdma.sockets.channel.SocketAdaptorFactories;
import org.jrdma.sockets.channel.SocketReplacement;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.channel.UdpDatagramChannel;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jspecify.annotations.Nullable;

/**
 * A selector provider whose channels use the fastest available transport, for programs that use
 * {@code java.nio.channels}: {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.jrdma.sockets.FabricSelectorProvider}.
 *
 * <p>Streams and listeners use the first usable transport of a list, by default {@code
 * -Djrdma.sockets.transports=supersockets,sisci,rsocket,smc,tcp}. A policy file, {@code
 * -Djrdma.sockets.policy=FILE}, can specify other transports for the addresses to which streams
 * connect and listeners are bound.
 *
 * <p>This provider also creates datagram channels, pipes and channels for Unix domain sockets,
 * because a program may use one selector for all of its channels. The selector rejects channels of
 * other providers. Safe for use by multiple threads.
 */
public final class FabricSelectorProvider extends SelectorProvider {

    private final Supplier<Preferences> preferences;
    private final SocketAdaptorFactories adaptors;

    /**
     * Creates a provider that uses the transports of the policy file and of the system property
     * {@code jrdma.sockets.transports}. The JVM calls this constructor if the system property for
     * the selector provider names this class. The properties with the transports and the policy are
     * not read here, but when the first stream or listener is opened.
     */
    public FabricSelectorProvider() {
        this(Preferences::configured, ChannelAdaptors.OF_CHANNELS);
    }

    /**
     * Creates a provider whose streams and listeners use the first usable transport of a list. The
     * policy file is ignored.
     *
     * @param preferred the transports, the most preferred first
     */
    public FabricSelectorProvider(List<Transport> preferred) {
        this(Preferences.of(preferred));
    }

    FabricSelectorProvider(Preferences preferences) {
        this(() -> preferences, ChannelAdaptors.OF_CHANNELS);
    }

    FabricSelectorProvider(Supplier<Preferences> preferences, SocketAdaptorFactories adaptors) {
        this.preferences = preferences;
        this.adaptors = adaptors;
    }

    private static void checkNativeAccess() {
        NativeLibrary.checkNativeAccess();
    }

    /** Creates a stream or a listener from a new socket, which it then owns. */
    @FunctionalInterface
    private interface Constructor<C> {
        C create(
                SelectorProvider provider,
                int descriptor,
                SelectedTransport selected,
                @Nullable SocketReplacement replacement,
                SocketAdaptorFactories adaptors)
                throws IOException;
    }

    /**
     * Opens a stream or a listener.
     *
     * @param family the protocol family; null for IPv4 or IPv6, as the machine supports
     */
    private <C> C open(@Nullable ProtocolFamily family, Constructor<C> constructor)
            throws IOException {
        checkNativeAccess();
        if (family == StandardProtocolFamily.UNIX) {
            var descriptor = SocketCalls.socket(SocketCalls.AF_UNIX, SocketCalls.SOCK_STREAM, 0);
            return constructor.create(
                    this,
                    SocketFailure.check(descriptor),
                    SelectedTransport.unix(),
                    null,
                    adaptors);
        }
        var current = preferences.get();
        var opened =
                family == null
                        ? current.standard().open()
                        : current.standard().open(InternetFamily.of(family));
        return constructor.create(
                this,
                opened.descriptor(),
                SelectedTransport.internet(opened),
                new SocketReplacement(current, family == null),
                adaptors);
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        return open(null, StreamChannel::new);
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        return open(Objects.requireNonNull(family), StreamChannel::new);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        return open(null, ListenerChannel::new);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        return open(Objects.requireNonNull(family), ListenerChannel::new);
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        checkNativeAccess();
        return new UdpDatagramChannel(this, InternetFamily.standard(), adaptors);
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        checkNativeAccess();
        return new UdpDatagramChannel(this, InternetFamily.of(family), adaptors);
    }

    @Override
    public Pipe openPipe() throws IOException {
        checkNativeAccess();
        return SelectablePipe.open(this);
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        checkNativeAccess();
        return new FabricSelector(this);
    }
}
