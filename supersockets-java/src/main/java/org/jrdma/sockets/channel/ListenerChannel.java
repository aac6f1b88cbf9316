package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.internal.Scratch;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SocketFailure;
import org.jrdma.sockets.transport.KernelTransport;
import org.jspecify.annotations.Nullable;

/**
 * A listener that accepts streams over its kernel socket, and over each transport without a kernel
 * socket that can use the same port.
 */
public final class ListenerChannel extends ServerSocketChannel implements Selectable {

    private static final int DEFAULT_BACKLOG = 50;

    /** The maximum number of ports that are tried to find one that is free for all transports. */
    private static final int MAX_PORT_CHOICES = 16;

    private final ChannelDescriptor endpoint;
    private final DirectionGuard input;
    private final @Nullable SocketReplacement replacement;
    private final SupportedChannelOptions options;
    private final SocketAdaptorFactories adaptors;
    private final AtomicReference<@Nullable ServerSocket> socket = new AtomicReference<>();
    private volatile SelectedTransport selected;
    private volatile @Nullable SocketAddress local;
    private volatile BypassListeners listeners = BypassListeners.NONE;

    private volatile int receiveBuffer;

    /**
     * Creates an unbound listener.
     *
     * @param replacement exchanges the socket when its address becomes known, because another
     *     transport may be configured for that address; null to keep the socket
     */
    public ListenerChannel(
            SelectorProvider provider,
            int descriptor,
            SelectedTransport selected,
            @Nullable SocketReplacement replacement,
            SocketAdaptorFactories adaptors)
            throws IOException {
        super(provider);
        this.adaptors = adaptors;
        this.selected = selected;
        this.replacement = replacement;
        endpoint = new ChannelDescriptor(this, descriptor);
        input = endpoint.input();
        if (selected.addresses() instanceof InternetFamily) {
            options = ChannelOption.ofListener();
            // The JDK sets this option too. Without it, a restarted server could not use the same
            // port for a minute.
            setOption(StandardSocketOptions.SO_REUSEADDR, true);
        } else {
            options = ChannelOption.ofUnixListener();
        }
    }

    @Override
    public ChannelDescriptor endpoint() {
        return endpoint;
    }

    @Override
    public ServerSocketChannel bind(@Nullable SocketAddress address, int backlog)
            throws IOException {
        endpoint.call(() -> {
            if (local != null) {
                throw new AlreadyBoundException();
            }
            var requested = address == null ? anyAddress() : address;
            if (replacement != null) {
                selected = replacement.forListener(selected, endpoint, requested);
            }
            local = listen(requested, backlog < 1 ? DEFAULT_BACKLOG : backlog);
            return null;
        });
        return this;
    }

    /**
     * Binds the socket, and listens over all transports. If the system chooses the port, repeats
     * this until the port is free for all of them.
     */
    private SocketAddress listen(SocketAddress requested, int backlog) throws IOException {
        for (var choices = 1; ; choices++) {
            var bound = selected.bind(endpoint.descriptor(), requested);
            SocketFailure.check(SocketCalls.listen(endpoint.descriptor(), backlog));
            if (selected.bypasses().isEmpty()) {
                return bound;
            }
            var opened =
                    BypassListeners.open(
                            selected.bypasses(), (InetSocketAddress) bound, backlog, receiveBuffer);
            var internet = (InetSocketAddress) requested;
            if (internet.getPort() != 0
                    || !opened.isAnyPortTaken()
                    || choices == MAX_PORT_CHOICES) {
                listeners = opened;
                opened.add(input::wakeUpOnce);
                endpoint.watchAlso(opened);
                return bound;
            }
            opened.close();
            selected =
                    Objects.requireNonNull(replacement)
                            .reopenListener(selected, endpoint, internet);
        }
    }

    private SocketAddress anyAddress() {
        return selected.addresses() instanceof InternetFamily internet
                ? internet.wildcard()
                : UnixDomainSocketAddress.of(
                        Path.of(
                                System.getProperty("java.io.tmpdir"),
                                "socket_" + UUID.randomUUID()));
    }

    @Override
    public @Nullable StreamChannel accept() throws IOException {
        return accept(Deadline.NEVER);
    }

    /**
     * Accepts a stream like {@link #accept()}, but a blocking channel waits at most until {@code
     * deadline}.
     */
    public @Nullable StreamChannel accept(Deadline deadline) throws IOException {
        input.lock();
        try {
            endpoint.ensureOpen();
            if (local == null) {
                throw new NotYetBoundException();
            }
            var accepting = new Accepting();
            try {
                var result = accept(accepting, deadline);
                if (result == SocketCalls.AGAIN) {
                    return null;
                }
                SocketFailure.check(result);
                return accepting.channel();
            } catch (Throwable e) {
                accepting.close();
                throw e;
            }
        } finally {
            input.unlock();
        }
    }

    private int accept(Accepting accepting, Deadline deadline) throws IOException {
        var result = SocketCalls.AGAIN;
        var blocking = isBlocking();
        if (blocking) {
            begin(); // A pending interrupt closes the channel here.
        }
        try {
            if (input.enter(blocking)) {
                do {
                    result = accepting.poll();
                } while (input.retry(result, deadline, "Accept timed out"));
            }
        } finally {
            if (input.leave()) {
                end(result > 0);
            }
        }
        return result;
    }

    /**
     * Accepts one connection, from the {@link BypassListeners} if they have one, otherwise from the
     * socket.
     */
    private final class Accepting {

        /**
         * The socket of the connection, or the socket that holds the options of a connection over a
         * bypass; negative if there is none.
         */
        private int descriptor = -1;

        private @Nullable SocketAddress peer;
        private BypassListeners.@Nullable Accepted bypassed;

        /** Tries once to accept a connection. Returns 1 on success, otherwise a negative errno. */
        int poll() {
            bypassed = listeners.poll();
            if (bypassed != null) {
                return 1;
            }
            try (var scratch = Scratch.take()) {
                var name = scratch.name();
                do {
                    descriptor =
                            SocketCalls.accept(
                                    endpoint.descriptor(), name.memory(), name.capacity());
                } while (descriptor == -Errno.ECONNABORTED);
                if (descriptor < 0) {
                    return descriptor;
                }
                peer = selected.addresses().read(name);
                return 1;
            }
        }

        StreamChannel channel() throws IOException {
            return bypassed == null ? overSocket() : overBypass(bypassed);
        }

        private StreamChannel overBypass(BypassListeners.Accepted accepted) throws IOException {
            // This socket only holds the options of the stream. It is never connected.
            descriptor = KernelTransport.TCP.open((InternetFamily) selected.addresses());
            var remaining = listeners.without(selected, accepted.index());
            var bypass = Objects.requireNonNull(remaining.bypass());
            var channel = newStream(remaining.overBypass(bypass));
            try {
                channel.accepted(accepted.arrival(), bypass.transport());
                return channel;
            } catch (Throwable e) {
                channel.close();
                throw e;
            }
        }

        private StreamChannel overSocket() throws IOException {
            var localAddress = selected.localAddress(descriptor);
            var channel = newStream(listeners.without(selected, selected.bypasses().size()));
            try {
                channel.accepted(localAddress, Objects.requireNonNull(peer));
                return channel;
            } catch (Throwable e) {
                channel.close();
                throw e;
            }
        }

        /** Creates a channel, whose close from now on closes the accepted connection. */
        private StreamChannel newStream(SelectedTransport ofStream) {
            var channel = new StreamChannel(provider(), descriptor, ofStream, null, adaptors);
            descriptor = -1;
            bypassed = null;
            return channel;
        }

        /** Closes an accepted connection that has no channel. */
        void close() {
            if (descriptor >= 0) {
                SocketCalls.close(descriptor);
            }
            if (bypassed != null) {
                bypassed.arrival().stream().close(true);
            }
        }
    }

    @Override
    public @Nullable SocketAddress getLocalAddress() throws IOException {
        endpoint.ensureOpen();
        return local;
    }

    /** Returns the local address, even if the channel is closed; null if it was never bound. */
    public @Nullable InetSocketAddress lastLocalAddress() {
        return (InetSocketAddress) local;
    }

    @Override
    protected void implCloseSelectableChannel() throws IOException {
        endpoint.close();
        listeners.close();
    }

    /** Waits until an accept that was started in the previous blocking mode has ended. */
    @Override
    protected void implConfigureBlocking(boolean block) throws IOException {
        input.lock();
        try {
            endpoint.ensureOpen();
        } finally {
            input.unlock();
        }
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
        return options.names();
    }

    @Override
    public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
        options.set(endpoint, name, value);
        if (name == StandardSocketOptions.SO_RCVBUF) {
            receiveBuffer = (Integer) value;
        }
        if (replacement != null && local == null) {
            endpoint.call(() -> {
                replacement.remember(name, value);
                return null;
            });
        }
        return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) throws IOException {
        return options.get(endpoint, name);
    }

    @Override
    public ServerSocket socket() {
        if (!(selected.addresses() instanceof InternetFamily)) {
            throw new UnsupportedOperationException("Not supported");
        }
        if (socket.get() == null) {
            socket.compareAndSet(null, adaptors.listener().apply(this));
        }
        return Objects.requireNonNull(socket.get());
    }

    /**
     * Returns the transport and the address, and the state of each transport without a kernel
     * socket: whether clients can use it or why not.
     */
    @Override
    public String toString() {
        var where =
                !isOpen()
                        ? "closed"
                        : local == null ? "unbound" : "at " + AddressText.of(local) + bypasses();
        return "FabricServerSocketChannel[%s %s]".formatted(selected.transport().name(), where);
    }

    private String bypasses() {
        var text = new StringBuilder();
        for (var i = 0; i < selected.bypasses().size(); i++) {
            var name = selected.bypasses().get(i).transport().name();
            var whyNot = listeners.whyNot(i);
            text.append(
                    whyNot.isEmpty()
                            ? "; over " + name
                            : "; not over %s: %s".formatted(name, whyNot));
        }
        return text.toString();
    }
}
