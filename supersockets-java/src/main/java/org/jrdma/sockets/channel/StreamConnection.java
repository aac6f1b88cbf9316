package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.util.Objects;
import java.util.Optional;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.ByteStream;
import org.jrdma.sockets.internal.SmcFallbackQuery;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.report.StreamReporter;
import org.jrdma.sockets.transport.BypassTransport;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a stream: its addresses, its transport, and the object that transfers the
 * bytes. The connection is modified while the locks of both directions are held, or by a connection
 * attempt while the lock of the {@link ChannelDescriptor} is held. Any thread reads it.
 */
final class StreamConnection {

    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final ChannelDescriptor endpoint;

    /** Exchanges the socket when its address becomes known; null to keep the socket. */
    private final @Nullable SocketReplacement replacement;

    private volatile SelectedTransport selected;
    private volatile State state = State.UNCONNECTED;
    private volatile ByteStream stream;
    private volatile @Nullable BypassStream bypass;
    private volatile @Nullable ConnectAttempt attempt;
    private volatile @Nullable SocketAddress local;
    private volatile @Nullable SocketAddress remote;
    private volatile @Nullable StreamReporter report;
    private boolean accepted;

    /** The receive buffer size in bytes that the program has set; 0 if it has set none. */
    private volatile int receiveBuffer;

    StreamConnection(
            ChannelDescriptor endpoint,
            SelectedTransport selected,
            @Nullable SocketReplacement replacement) {
        this.endpoint = endpoint;
        this.selected = selected;
        this.replacement = replacement;
        this.stream = new KernelStream(endpoint.descriptor());
    }

    ByteStream stream() {
        return stream;
    }

    boolean isBypassed() {
        return bypass != null;
    }

    SelectedTransport selected() {
        return selected;
    }

    void changeSelected(SelectedTransport newSelected) {
        selected = newSelected;
    }

    @Nullable SocketAddress local() {
        return local;
    }

    void recordLocal(SocketAddress address) {
        local = address;
    }

    @Nullable SocketAddress remote() {
        return remote;
    }

    int receiveBuffer() {
        return receiveBuffer;
    }

    StreamReporter report() {
        return Objects.requireNonNull(report);
    }

    boolean isPending() {
        return state == State.PENDING;
    }

    /** Returns true if the stream is connected, or was connected when the channel was closed. */
    boolean wasConnected() {
        return state == State.CONNECTED;
    }

    /** Returns the operations that a selector can wait for. */
    int possible() {
        return switch (state) {
            case UNCONNECTED -> 0;
            case PENDING -> SelectionKey.OP_CONNECT;
            case CONNECTED -> SelectionKey.OP_READ | SelectionKey.OP_WRITE;
        };
    }

    void ensureConnected() throws ClosedChannelException {
        endpoint.ensureOpen();
        if (state != State.CONNECTED) {
            throw new NotYetConnectedException();
        }
    }

    void bind(@Nullable SocketAddress address) throws IOException {
        endpoint.ensureOpen();
        if (state == State.PENDING) {
            throw new ConnectionPendingException();
        }
        if (local != null) {
            throw new AlreadyBoundException();
        }
        if (replacement != null) {
            selected = replacement.forLocal(selected, endpoint, address);
        }
        local = endpoint.call(() -> selected.bindClient(endpoint.descriptor(), address));
    }

    /** Creates an attempt to connect. If necessary for the address, exchanges the socket first. */
    ConnectAttempt start(SocketAddress address, Deadline deadline) throws IOException {
        endpoint.ensureOpen();
        if (replacement != null && state == State.UNCONNECTED) {
            selected = replacement.forPeer(selected, endpoint, address, local);
        }
        var target = selected.addresses().reach(selected.addresses().check(address));
        state =
                switch (state) {
                    case CONNECTED -> throw new AlreadyConnectedException();
                    case PENDING -> throw new ConnectionPendingException();
                    case UNCONNECTED -> State.PENDING;
                };
        remote = target;
        var started = new ConnectAttempt(this, endpoint, target, deadline);
        attempt = started;
        return started;
    }

    /** Returns the connection attempt in progress; null if the stream is connected. */
    @Nullable ConnectAttempt pending() throws ClosedChannelException {
        endpoint.ensureOpen();
        return switch (state) {
            case CONNECTED -> null;
            case PENDING -> Objects.requireNonNull(attempt);
            case UNCONNECTED -> throw new NoConnectionPendingException();
        };
    }

    /**
     * Transfers all bytes over {@code newStream} instead of the kernel socket. Called before the
     * stream is connected.
     */
    void use(BypassStream newStream, BypassTransport transport) throws IOException {
        bypass = newStream; // From now on, closing the channel also closes the stream.
        stream = newStream;
        endpoint.watch(newStream, transport.spinNanos());
    }

    /** Changes the state to connected, for a stream that a listener has accepted. */
    void accepted(SocketAddress localAddress, SocketAddress peer) {
        local = localAddress;
        remote = peer;
        accepted = true;
        established();
    }

    /** Changes the state to connected, after the attempt to connect has succeeded. */
    void connected() throws IOException {
        if (bypass == null) {
            local = endpoint.call(() -> selected.localAddress(endpoint.descriptor()));
        }
        attempt = null;
        established();
    }

    private void established() {
        report =
                StreamReporter.open(
                        Objects.requireNonNull(local),
                        Objects.requireNonNull(remote),
                        accepted,
                        chosenPath(),
                        smc -> endpoint.call(() -> path(smc)));
        state = State.CONNECTED;
    }

    private StreamReporter.Path chosenPath() {
        return new StreamReporter.Path(selected.transport().name(), selected.reasons());
    }

    private StreamReporter.Path path(SmcFallbackQuery smc) throws IOException {
        return isBypassed() ? chosenPath() : selected.kernelPath(endpoint.descriptor(), smc);
    }

    /** Returns the connection for reports; empty if the stream is not connected, or is closed. */
    Optional<Connection> describe() {
        var connected = report;
        return connected == null ? Optional.empty() : connected.connection(new SmcFallbackQuery());
    }

    /** Called after the program has set an option. */
    void optionChanged(SocketOption<?> name, Object value) throws IOException {
        if (name == StandardSocketOptions.SO_RCVBUF) {
            receiveBuffer = (Integer) value;
        }
        if (replacement != null && state == State.UNCONNECTED) {
            endpoint.call(() -> {
                replacement.remember(name, value);
                return null;
            });
        }
    }

    /**
     * Closes the stream over a transport without a kernel socket, abandons a connection attempt,
     * and records that the connection is closed. Called after the endpoint was closed.
     *
     * @param reset true if the peer must see a reset instead of the end of the stream
     */
    void close(boolean reset) {
        var pending = attempt;
        if (pending != null) {
            pending.abandon();
        }
        var openBypass = bypass;
        if (openBypass != null) {
            openBypass.close(reset);
        }
        var connected = report;
        if (connected != null) {
            connected.close();
        }
    }

    @Override
    public String toString() {
        return switch (state) {
            case UNCONNECTED -> "unconnected";
            case PENDING -> "connecting to " + AddressText.of(remote);
            case CONNECTED -> "%s to %s".formatted(AddressText.of(local), AddressText.of(remote));
        };
    }
}
