package org.jrdma.sockets.channel;

import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.policy.TransportList.Bypass;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An attempt to connect a stream: first over each transport without a kernel socket, in order of
 * preference, and then with the kernel socket.
 */
final class ConnectAttempt implements LazyBinding {

    private static final Logger LOG = LoggerFactory.getLogger(ConnectAttempt.class);
    private static final long FULL_QUEUE_RETRY_NANOS = 1_000_000;

    private final StreamConnection connection;
    private final ChannelDescriptor endpoint;
    private final SocketAddress target;
    private final Deadline deadline;
    private volatile @Nullable BypassAttempt current;

    /**
     * The result of connect(2) so far: 0 if it has started to connect, 1 if it has succeeded
     * immediately, {@link SocketCalls#AGAIN} if it must be called again or was not called yet, or
     * another negative errno.
     */
    private volatile int socketResult = SocketCalls.AGAIN;

    private record BypassAttempt(Bypass bypass, BypassConnector connector) {}

    ConnectAttempt(
            StreamConnection connection,
            ChannelDescriptor endpoint,
            SocketAddress target,
            Deadline deadline) {
        this.connection = connection;
        this.endpoint = endpoint;
        this.target = target;
        this.deadline = deadline;
    }

    /**
     * Starts to connect, or checks whether the connection is established. Does not wait for the
     * peer.
     *
     * @param isBlocking true if the caller repeats this call until there is a result; the call may
     *     then pause for a millisecond
     * @return 1 if the connection is established, {@link SocketCalls#AGAIN} if the attempt is still
     *     in progress, or another negative errno
     */
    int poll(boolean isBlocking) throws IOException {
        while (true) {
            var now = current;
            if (now == null) {
                return connection.selected().bypass() == null || startBypass()
                        ? pollSocket(isBlocking)
                        : SocketCalls.AGAIN;
            }
            if (!now.connector.isDone()) {
                return SocketCalls.AGAIN;
            }
            var stream = now.connector.take();
            if (stream.isPresent()) {
                connection.changeSelected(connection.selected().overBypass(now.bypass));
                connection.use(stream.get(), now.bypass.transport());
                stream.get().localAddress().ifPresent(connection::recordLocal);
                return 1;
            }
            if (current == now) {
                throw new ConnectException(now.connector.reason());
            }
        }
    }

    /**
     * Starts to connect over the first transport without a kernel socket that is usable on this
     * machine. Returns true if there is none.
     */
    private boolean startBypass() throws IOException {
        var bypass = connection.selected().bypass();
        while (bypass != null) {
            try {
                start(bypass);
                return false;
            } catch (FabricException e) {
                if (bypass.isLast()) {
                    throw new ConnectException(e.getMessage());
                }
                connection.changeSelected(
                        connection.selected().withoutBypass(String.valueOf(e.getMessage())));
                bypass = connection.selected().bypass();
            }
        }
        return true;
    }

    private void start(Bypass bypass) throws IOException {
        var connector =
                bypass.transport()
                        .connect(
                                (InetSocketAddress) target,
                                connection.receiveBuffer(),
                                this,
                                reason -> failed(bypass, reason));
        endpoint.watch(connector, 0);
        current = new BypassAttempt(bypass, connector); // after all that may fail before the start
        connector.start(() -> deadline(bypass));
    }

    /**
     * Returns the deadline of the attempt over one transport. If other transports follow, they get
     * half of the remaining time.
     */
    private Deadline deadline(Bypass bypass) {
        return bypass.isLast() || deadline.equals(Deadline.NEVER)
                ? deadline
                : Deadline.after(Duration.ofNanos(deadline.remainingNanos() / 2));
    }

    /**
     * Continues with the next transport or with the kernel socket, after the attempt over one
     * transport has failed. Called on the thread of that attempt, because no other thread may be
     * available: a program with a non-blocking channel makes its next call when its selector
     * reports that the whole attempt has ended.
     */
    private void failed(Bypass bypass, String reason) {
        if (bypass.isLast()) {
            return;
        }
        try {
            endpoint.call(() -> {
                connection.changeSelected(connection.selected().withoutBypass(reason));
                if (startBypass()) {
                    connectSocket();
                    endpoint.watchDescriptor();
                    current = null;
                }
                return null;
            });
        } catch (IOException e) {
            LOG.debug(
                    "Cannot continue with the next transport to {}: {}",
                    AddressText.of(target),
                    e.getMessage());
        }
    }

    /** Gives up the attempt, because the channel is closed. */
    void abandon() {
        var last = current;
        if (last != null) {
            last.connector.abandon();
        }
    }

    private int pollSocket(boolean isBlocking) throws IOException {
        if (socketResult == 0) {
            return connection.selected().connected(endpoint.descriptor());
        }
        if (socketResult == SocketCalls.AGAIN) {
            connectSocket();
            if (socketResult == SocketCalls.AGAIN && isBlocking) {
                // The kernel reports no event when the accept queue has a free slot again, so the
                // thread pauses and retries.
                LockSupport.parkNanos(FULL_QUEUE_RETRY_NANOS);
            }
        }
        return socketResult == 0 ? SocketCalls.AGAIN : socketResult;
    }

    private void connectSocket() throws IOException {
        var result = connection.selected().connect(endpoint.descriptor(), target);
        socketResult =
                switch (result) {
                    case -Errno.EINPROGRESS, -Errno.EINTR -> 0;
                    case 0 -> 1;
                    // AGAIN: the accept queue of a listener on this machine is full.
                    default -> result;
                };
    }

    @Override
    public InetAddress source() throws IOException {
        return connection.selected().sourceTowards((InetSocketAddress) target);
    }

    @Override
    public Optional<InetSocketAddress> bound() {
        return Optional.ofNullable((InetSocketAddress) connection.local());
    }

    @Override
    public InetSocketAddress bind() throws IOException {
        return endpoint.call(() -> {
            var address =
                    connection
                            .selected()
                            .addressTowards(endpoint.descriptor(), (InetSocketAddress) target);
            connection.recordLocal(address);
            return address;
        });
    }
}
