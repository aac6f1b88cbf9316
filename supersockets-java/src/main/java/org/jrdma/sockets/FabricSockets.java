package org.jrdma.sockets;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.SelectedTransport;
import org.jrdma.sockets.channel.SocketAdaptorFactories;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.policy.TransportList.UnusedTransport;
import org.jrdma.sockets.transport.StreamTransport;

/**
 * Static methods that connect or listen over the fastest available transport. Safe for use by
 * multiple threads.
 */
public final class FabricSockets {

    private static final SocketAdaptorFactories ADAPTORS = ChannelAdaptors.OF_CHANNELS;
    private static final FabricSelectorProvider PROVIDER = new FabricSelectorProvider();

    private FabricSockets() {}

    /**
     * Connects over the first transport that reaches the peer.
     *
     * <p>The transports are those that the policy file, {@code -Djrdma.sockets.policy=FILE}, lists
     * for the peer. If no rule of the policy matches, the transports are those of the system
     * property {@code jrdma.sockets.transports}, by default {@code
     * supersockets,sisci,rsocket,smc,tcp}.
     *
     * @see #connect(String, int, List, Duration)
     */
    public static FabricSocketChannel connect(String host, int port, Duration timeout)
            throws IOException {
        return connect(host, port, Preferences.configured(), timeout, ADAPTORS);
    }

    /**
     * Connects over the first transport of a list that reaches the peer. Ignores the policy file.
     * {@link OpenConnections#of} reports the transport in use, and why more preferred transports
     * failed. A waiting virtual thread releases its carrier thread.
     *
     * @param preferred the transports, the most preferred first
     * @param timeout the total time for all attempts. Each attempt may use an equal part of the
     *     remaining time, so that a transport whose peer does not respond leaves time for the next
     *     transport. With a timeout of zero, no attempt waits.
     * @throws IllegalArgumentException if the timeout is negative
     * @throws UnknownHostException if the host is unknown
     * @throws FabricTimeoutException if no transport connects and the last attempt timed out; the
     *     message has the reason for each transport
     * @throws FabricException if no transport connects; the message has the reason for each
     *     transport
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     */
    public static FabricSocketChannel connect(
            String host, int port, List<Transport> preferred, Duration timeout) throws IOException {
        return connect(host, port, Preferences.of(preferred), timeout, ADAPTORS);
    }

    static StreamChannel connect(
            String host,
            int port,
            Preferences preferences,
            Duration timeout,
            SocketAdaptorFactories adaptors)
            throws IOException {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        var deadline = Deadline.after(timeout);
        InetAddress[] addresses = BlockingCalls.call(() -> InetAddress.getAllByName(host));
        return connect(host, addresses, port, preferences, deadline, adaptors);
    }

    /**
     * Connects a stream to a host, which may have several addresses. Returns the stream of the
     * first successful attempt.
     */
    static StreamChannel connect(
            String host,
            InetAddress[] addresses,
            int port,
            Preferences preferences,
            Deadline deadline,
            SocketAdaptorFactories adaptors)
            throws IOException {
        var attempts = attempts(addresses, port, preferences);
        var untried = attempts.size();
        var unused = new ArrayList<UnusedTransport>();
        var failures = new ArrayList<IOException>();
        for (var attempt : attempts) {
            try {
                var part = Duration.ofNanos(Math.max(0, deadline.remainingNanos()) / untried--);
                return connect(attempt, List.copyOf(unused), Deadline.after(part), adaptors);
            } catch (AsynchronousCloseException e) {
                throw e; // The thread was interrupted.
            } catch (IOException e) {
                failures.add(e);
                unused.add(new UnusedTransport(attempt.transport, e.getMessage()));
            }
        }
        throw unreachable(host + ":" + port, unused, failures);
    }

    private record Attempt(InetSocketAddress address, StreamTransport transport) {}

    /**
     * Returns the connection attempts in order: all addresses over the most preferred transport of
     * each address, then all addresses over the second transport of each, and so on.
     */
    private static List<Attempt> attempts(
            InetAddress[] addresses, int port, Preferences preferences) throws FabricException {
        var attempts = new ArrayList<Attempt>();
        var more = true;
        for (var rank = 0; more; rank++) {
            more = false;
            for (var address : addresses) {
                var peer = new InetSocketAddress(address, port);
                var preferred = preferences.forPeer(peer).preferred();
                if (rank < preferred.size()) {
                    attempts.add(new Attempt(peer, preferred.get(rank)));
                    more = true;
                }
            }
        }
        return attempts;
    }

    private static StreamChannel connect(
            Attempt attempt,
            List<UnusedTransport> unused,
            Deadline deadline,
            SocketAdaptorFactories adaptors)
            throws IOException {
        var family =
                attempt.address.getAddress() instanceof Inet4Address
                        ? InternetFamily.IPV4
                        : InternetFamily.IPV6;
        var opened = TransportList.open(attempt.transport, family, unused);
        var channel =
                new StreamChannel(
                        PROVIDER,
                        opened.descriptor(),
                        SelectedTransport.internet(opened),
                        null,
                        adaptors);
        try {
            channel.connect(attempt.address, deadline);
            return channel;
        } catch (Throwable e) {
            channel.close();
            throw e;
        }
    }

    private static FabricException unreachable(
            String peer, List<UnusedTransport> unused, List<IOException> failures) {
        var message =
                unused.stream()
                        .map(UnusedTransport::toString)
                        .distinct()
                        .collect(Collectors.joining("; ", peer + " cannot be reached. ", ""));
        var exception =
                failures.getLast() instanceof SocketTimeoutException
                        ? new FabricTimeoutException(message)
                        : new FabricException(message);
        failures.forEach(exception::addSuppressed);
        return exception;
    }

    /**
     * Listens with a kernel socket of the first usable transport, and over each transport without a
     * kernel socket that is preferred to it and can use the same port.
     *
     * <p>The transports are those that the policy file lists for the address. If no rule of the
     * policy matches, the transports are those of the system property {@code
     * jrdma.sockets.transports}.
     */
    public static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
        return listen(address, PROVIDER);
    }

    /**
     * Listens like {@link #listen(InetSocketAddress)}, but uses the transports of a list. The
     * policy file is ignored.
     *
     * @param preferred the transports, the most preferred first
     */
    public static ServerSocketChannel listen(InetSocketAddress address, List<Transport> preferred)
            throws IOException {
        return listen(address, new FabricSelectorProvider(preferred));
    }

    private static ServerSocketChannel listen(
            InetSocketAddress address, FabricSelectorProvider provider) throws IOException {
        Objects.requireNonNull(address);
        var listener = provider.openServerSocketChannel();
        try {
            return listener.bind(address);
        } catch (Throwable e) {
            listener.close();
            throw e;
        }
    }

    /**
     * Reads the policy file immediately. Without this call, a change of the file takes effect
     * within a second. Existing connections are not affected. Does nothing if no policy file is
     * configured.
     *
     * @throws FabricException if the file is missing or malformed; the message names the file and
     *     the line. The previous rules remain in effect.
     */
    public static void reloadPolicy() throws FabricException {
        Preferences.configured().reload();
    }
}
