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
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;

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

    /** For the JVM, which makes it at its first channel. Reads the system properties later. */
    public FabricSelectorProvider() {
        preferences = Preferences::configured;
    }

    /**
     * Over the first of these transports that this machine can use when a channel is made, whatever
     * the policy.
     */
    public FabricSelectorProvider(List<Transport> preferred) {
        this(Preferences.of(preferred));
    }

    FabricSelectorProvider(Preferences preferences) {
        this.preferences = () -> preferences;
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
                    new StreamChannel(this, unixSocket(), StreamKind.unix(), null);
            default -> {
                var preferences = this.preferences.get();
                yield stream(
                        preferences.standard().open(InternetFamily.of(family)),
                        new AddressChoice(preferences, false));
            }
        };
    }

    private SocketChannel stream(Transports.Opened opened, AddressChoice choice) {
        return new StreamChannel(this, opened.descriptor(), StreamKind.internet(opened), choice);
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
                    new ListenerChannel(this, unixSocket(), StreamKind.unix(), null);
            default -> {
                var preferences = this.preferences.get();
                yield listener(
                        preferences.standard().open(InternetFamily.of(family)),
                        new AddressChoice(preferences, false));
            }
        };
    }

    private ServerSocketChannel listener(Transports.Opened opened, AddressChoice choice)
            throws IOException {
        return new ListenerChannel(this, opened.descriptor(), StreamKind.internet(opened), choice);
    }

    private static int unixSocket() throws IOException {
        return SocketFailure.check(
                SocketCalls.socket(SocketCalls.AF_UNIX, SocketCalls.SOCK_STREAM, 0));
    }

    @Override
    public DatagramChannel openDatagramChannel() throws IOException {
        needPermission();
        return new FabricDatagramChannel(this, InternetFamily.standard());
    }

    @Override
    public DatagramChannel openDatagramChannel(ProtocolFamily family) throws IOException {
        needPermission();
        return new FabricDatagramChannel(this, InternetFamily.of(family));
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
