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
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.ByteStream;
import org.jrdma.sockets.internal.SmcSockets;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.report.StreamReport;
import org.jrdma.sockets.transport.BypassTransport;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a stream: its addresses, the transport that was chosen, and what carries the
 * bytes. Changed under the locks of both directions, and read by any thread.
 */
final class StreamConnection {

    private enum State {
        UNCONNECTED,
        PENDING,
        CONNECTED
    }

    private final Endpoint endpoint;

    /** Replaces the socket when the address is known; null if the socket stays. */
    private final @Nullable AddressChoice choice;

    private volatile StreamKind kind;
    private volatile State state = State.UNCONNECTED;
    private volatile ByteStream stream;
    private volatile @Nullable BypassStream bypass;
    private volatile @Nullable ConnectAttempt attempt;
    private volatile @Nullable SocketAddress local;
    private volatile @Nullable SocketAddress remote;
    private volatile @Nullable StreamReport report;
    private boolean accepted;

    /** The size that the program has set; 0 if none. */
    private volatile int receiveBuffer;

    StreamConnection(Endpoint endpoint, StreamKind kind, @Nullable AddressChoice choice) {
        this.endpoint = endpoint;
        this.kind = kind;
        this.choice = choice;
        this.stream = new KernelStream(endpoint.descriptor());
    }

    /** The stream that carries the bytes. */
    ByteStream stream() {
        return stream;
    }

    /** Whether the bytes bypass the kernel's socket. */
    boolean isBypassed() {
        return bypass != null;
    }

    StreamKind kind() {
        return kind;
    }

    void become(StreamKind other) {
        kind = other;
    }

    @Nullable SocketAddress local() {
        return local;
    }

    void hasLocal(SocketAddress address) {
        local = address;
    }

    @Nullable SocketAddress remote() {
        return remote;
    }

    int receiveBuffer() {
        return receiveBuffer;
    }

    /** The report of a stream that is connected. */
    StreamReport report() {
        return Objects.requireNonNull(report);
    }

    boolean isPending() {
        return state == State.PENDING;
    }

    /** Whether there is a connection, or was one when the channel was closed. */
    boolean wasConnected() {
        return state == State.CONNECTED;
    }

    /** The operations for which a selector can wait. */
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
        if (choice != null) {
            kind = choice.forOwn(kind, endpoint, address);
        }
        local = endpoint.call(() -> kind.bindClient(endpoint.descriptor(), address));
    }

    /** Starts to connect. */
    ConnectAttempt start(SocketAddress address, Deadline deadline) throws IOException {
        endpoint.ensureOpen();
        if (choice != null && state == State.UNCONNECTED) {
            kind = choice.forPeer(kind, endpoint, address, local);
        }
        var target = kind.addresses().reach(kind.addresses().check(address));
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

    /** The attempt in progress; null if it has succeeded. */
    @Nullable ConnectAttempt pending() throws ClosedChannelException {
        endpoint.ensureOpen();
        return switch (state) {
            case CONNECTED -> null;
            case PENDING -> Objects.requireNonNull(attempt);
            case UNCONNECTED -> throw new NoConnectionPendingException();
        };
    }

    /** Carries the bytes by {@code taken} from now on. The channel is not connected yet. */
    void use(BypassStream taken, BypassTransport transport) throws IOException {
        bypass = taken; // from now on, the close of the channel closes it
        stream = taken;
        endpoint.listenTo(taken, transport.spinNanos());
    }

    /** Makes this a connection that a listener has accepted. */
    void accepted(SocketAddress ownAddress, SocketAddress peer) {
        local = ownAddress;
        remote = peer;
        accepted = true;
        established();
    }

    /** The attempt to connect has succeeded. */
    void connected() throws IOException {
        if (bypass == null) {
            local = endpoint.call(() -> kind.localAddress(endpoint.descriptor()));
        }
        attempt = null;
        established();
    }

    private void established() {
        report =
                StreamReport.open(
                        Objects.requireNonNull(local),
                        Objects.requireNonNull(remote),
                        accepted,
                        chosenPath(),
                        smc -> endpoint.call(() -> path(smc)));
        state = State.CONNECTED;
    }

    private StreamReport.Path chosenPath() {
        return new StreamReport.Path(kind.transport().name(), kind.reasons());
    }

    private StreamReport.Path path(SmcSockets smc) throws IOException {
        return isBypassed() ? chosenPath() : kind.kernelPath(endpoint.descriptor(), smc);
    }

    /** The connection for a report; empty if it is not established, or closed. */
    Optional<Connection> describe() {
        var connected = report;
        return connected == null ? Optional.empty() : connected.connection(new SmcSockets());
    }

    /** An option was set. */
    void optionSet(SocketOption<?> name, Object value) throws IOException {
        if (name == StandardSocketOptions.SO_RCVBUF) {
            receiveBuffer = (Integer) value;
        }
        if (choice != null && state == State.UNCONNECTED) {
            endpoint.call(() -> {
                choice.remember(name, value);
                return null;
            });
        }
    }

    /**
     * Ends the connection, after the endpoint.
     *
     * @param reset whether a bypass is to be reset
     */
    void close(boolean reset) {
        var pending = attempt;
        if (pending != null) {
            pending.abandon();
        }
        var bypassing = bypass;
        if (bypassing != null) {
            bypassing.close(reset);
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
            case PENDING -> "connecting to " + remote;
            case CONNECTED -> "%s to %s".formatted(local, remote);
        };
    }
}
