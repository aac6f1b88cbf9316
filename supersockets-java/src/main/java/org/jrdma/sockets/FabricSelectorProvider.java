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
import org.jrdma.sockets.channel.AddressChoice;
import org.jrdma.sockets.channel.FabricDatagramChannel;
import org.jrdma.sockets.channel.FabricPipe;
import org.jrdma.sockets.channel.FabricSelector;
import org.jrdma.sockets.channel.ListenerChannel;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.channel.StreamKind;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jrdma.sockets.policy.TransportList;

/**
 * Channels that take the fastest path, for programs that know nothing of it: {@code
 * -Djava.nio.channels.spi.SelectorProvider=org.jrdma.sockets.FabricSelectorProvider}.
 *
 * <p>Each channel is made over the first transport of a list that this machine can use, {@code
 * -Djrdma.sockets.transports=supersockets,sisci,rsocket,smc,tcp} unless said otherwise; it becomes
 * another one where the policy, {@code -Djrdma.sockets.policy=FILE}, has a rule for the address
 * that it is bound or connected to. Datagram channels, pipes and channels within this machine are
 * made here too, for the same selector serves them all; those of another provider it refuses. Safe
 * for use by several threads.
 */
public final class FabricSelectorProvider extends SelectorProvider {

    private final Supplier<Preferences> preferences;
    private final Adaptors adaptors;

    /** For the JVM, which makes it at its first channel. Reads the system properties later. */
    public FabricSelectorProvider() {
        this(Preferences::configured, ChannelAdaptors.OF_CHANNELS);
    }

    /**
     * Over the first of these transports that this machine can use when a channel is made, whatever
     * the policy.
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

    /** Refuses a missing native-access flag in words. */
    private static void needPermission() {
        NativeLibrary.needPermission();
    }

    @Override
    public SocketChannel openSocketChannel() throws IOException {
        needPermission();
        var preferences = this.preferences.get();
        return stream(preferences.standard().open(), new AddressChoice(preferences, true));
    }

    @Override
    public SocketChannel openSocketChannel(ProtocolFamily family) throws IOException {
        needPermission();
        return switch (Objects.requireNonNull(family)) {
            case StandardProtocolFamily.UNIX ->
                    new StreamChannel(this, unixSocket(), StreamKind.unix(), null, adaptors);
            default -> {
                var preferences = this.preferences.get();
                yield stream(
                        preferences.standard().open(InternetFamily.of(family)),
                        new AddressChoice(preferences, false));
            }
        };
    }

    private SocketChannel stream(TransportList.OpenedSocket opened, AddressChoice choice) {
        return new StreamChannel(
                this, opened.descriptor(), StreamKind.internet(opened), choice, adaptors);
    }

    @Override
    public ServerSocketChannel openServerSocketChannel() throws IOException {
        needPermission();
        var preferences = this.preferences.get();
        return listener(preferences.standard().open(), new AddressChoice(preferences, true));
    }

    @Override
    public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
        needPermission();
        return switch (Objects.requireNonNull(family)) {
            case StandardProtocolFamily.UNIX ->
                    new ListenerChannel(this, unixSocket(), StreamKind.unix(), null, adaptors);
            default -> {
                var preferences = this.preferences.get();
                yield listener(
                        preferences.standard().open(InternetFamily.of(family)),
                        new AddressChoice(preferences, false));
            }
        };
    }

    private ServerSocketChannel listener(TransportList.OpenedSocket opened, AddressChoice choice)
            throws IOException {
        return new ListenerChannel(
                this, opened.descriptor(), StreamKind.internet(opened), choice, adaptors);
    }

    private static int unixSocket() throws IOException {
        return SocketFailure.check(
                SocketCalls.socket(SocketCalls.AF_UNIX, SocketCalls.SOCK_STREAM, 0));
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        needPermission();
        return new FabricDatagramChannel(this, InternetFamily.standard(), adaptors);
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        needPermission();
        return new FabricDatagramChannel(this, InternetFamily.of(family), adaptors);
    }

    @Override
    public Pipe openPipe() throws IOException {
        needPermission();
        return FabricPipe.open(this);
    }

    @Override
    public AbstractSelector openSelector() throws IOException {
        needPermission();
        return new FabricSelector(this);
    }
}
