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
import org.jrdma.sockets.channel.Adaptors;
import org.jrdma.sockets.channel.FabricDatagramChannel;
import org.jrdma.sockets.channel.FabricPipe;
import org.jrdma.sockets.channel.FabricSelector;
import org.jrdma.sockets.channel.ListenerChannel;
import org.jrdma.sockets.channel.SocketReplacement;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.channel.StreamKind;
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
 * <p>Each channel is created over the first usable transport of a list, by default {@code
 * -Djrdma.sockets.transports=supersockets,sisci,rsocket,smc,tcp}. The transport changes if the
 * policy, {@code -Djrdma.sockets.policy=FILE}, has a rule for the address that the channel is bound
 * or connected to.
 *
 * <p>This provider also creates datagram channels, pipes and channels for Unix domain sockets,
 * because one selector must serve all channels of a program. The selector rejects channels of other
 * providers. Safe for use by multiple threads.
 */
public final class FabricSelectorProvider extends SelectorProvider {

    private final Supplier<Preferences> preferences;
    private final Adaptors adaptors;

    /**
     * Creates the provider; called by the JVM when it opens its first channel. The system
     * properties are read when a channel is opened.
     */
    public FabricSelectorProvider() {
        this(Preferences::configured, ChannelAdaptors.OF_CHANNELS);
    }

    /**
     * Creates a provider that uses the first of these transports that is usable when a channel is
     * opened. The policy is ignored.
     */
    public FabricSelectorProvider(List<Transport> preferred) {
        this(Preferences.of(preferred));
    }

    FabricSelectorProvider(Preferences preferences) {
        this(() -> preferences, ChannelAdaptors.OF_CHANNELS);
    }

    FabricSelectorProvider(Supplier<Preferences> preferences, Adaptors adaptors) {
        this.preferences = preferences;
        this.adaptors = adaptors;
    }

    private static void checkNativeAccess() {
        NativeLibrary.checkNativeAccess();
    }

    /** Creates a stream or a listener for an open socket. */
    @FunctionalInterface
    private interface Constructor<C> {
        C create(
                SelectorProvider provider,
                int descriptor,
                StreamKind kind,
                @Nullable SocketReplacement replacement,
                Adaptors adaptors)
                throws IOException;
    }

    /** Opens a channel for a protocol family, or for any internet family if it is null. */
    private <C> C open(@Nullable ProtocolFamily family, Constructor<C> constructor)
            throws IOException {
        checkNativeAccess();
        if (family == StandardProtocolFamily.UNIX) {
            var descriptor = SocketCalls.socket(SocketCalls.AF_UNIX, SocketCalls.SOCK_STREAM, 0);
            return constructor.create(
                    this, SocketFailure.check(descriptor), StreamKind.unix(), null, adaptors);
        }
        var current = preferences.get();
        var opened =
                family == null
                        ? current.standard().open()
                        : current.standard().open(InternetFamily.of(family));
        return constructor.create(
                this,
                opened.descriptor(),
                StreamKind.internet(opened),
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
        return new FabricDatagramChannel(this, InternetFamily.standard(), adaptors);
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        checkNativeAccess();
        return new FabricDatagramChannel(this, InternetFamily.of(family), adaptors);
    }

    @Override
    public Pipe openPipe() throws IOException {
        checkNativeAccess();
        return FabricPipe.open(this);
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        checkNativeAccess();
        return new FabricSelector(this);
    }
}
