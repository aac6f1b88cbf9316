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
import java.util.stream.Collectors;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.sockets.adaptor.ChannelAdaptors;
import org.jrdma.sockets.channel.Adaptors;
import org.jrdma.sockets.channel.StreamChannel;
import org.jrdma.sockets.channel.StreamKind;
import org.jrdma.sockets.internal.InternetFamily;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.policy.Preferences;
import org.jrdma.sockets.policy.TransportList;
import org.jrdma.sockets.policy.TransportList.Refusal;
import org.jrdma.sockets.transport.StreamTransport;

/**
 * Streams on the fastest path there is, for programs that ask for them. Safe for use by several
 * threads.
 */
public final class FabricSockets {

    private static final Adaptors ADAPTORS = ChannelAdaptors.OF_CHANNELS;
    private static final FabricSelectorProvider PROVIDER = new FabricSelectorProvider();

    private FabricSockets() {}

    /**
     * Connects over the first of the transports that leads to the peer: those that the policy has
     * for it, {@code -Djrdma.sockets.policy=FILE}, or else {@code
     * -Djrdma.sockets.transports=supersockets,sisci,rsocket,smc,tcp} unless said otherwise.
     *
     * @see #connect(String, int, List, Duration)
     */
    public static FabricSocketChannel connect(String host, int port, Duration timeout)
            throws IOException {
        return connect(host, port, Preferences.configured(), timeout, ADAPTORS);
    }

    /**
     * Connects over the first of these transports that leads to the peer, whatever the policy has
     * for it; {@link Connections#of} says which one it is, and why none before it. A virtual thread
     * that waits leaves its carrier.
     *
     * @param timeout for all attempts together: each has an equal part of what is left, so that a
     *     path on which nothing comes back leaves time for the next; zero waits for nothing
     * @throws IllegalArgumentException if it is negative
     * @throws UnknownHostException if there is no such host
     * @throws FabricTimeoutException if none leads there in this time
     * @throws FabricException if none leads there at all; either says why of each
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     */
    public static FabricSocketChannel connect(
            String host, int port, List<Transport> preferred, Duration timeout) throws IOException {
        return connect(host, port, Preferences.of(preferred), timeout, ADAPTORS);
    }

    static StreamChannel connect(
            String host, int port, Preferences preferences, Duration timeout, Adaptors adaptors)
            throws IOException {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("connect: timeout can't be negative");
        }
        var deadline = Deadline.after(timeout);
        InetAddress[] addresses = PlatformCalls.call(() -> InetAddress.getAllByName(host));
        return connect(host, addresses, port, preferences, deadline, adaptors);
    }

    /** Connects to one of these addresses of a host. */
    static StreamChannel connect(
            String host,
            InetAddress[] addresses,
            int port,
            Preferences preferences,
            Deadline deadline,
            Adaptors adaptors)
            throws IOException {
        var attempts = attempts(addresses, port, preferences);
        var left = attempts.size();
        var refusals = new ArrayList<Refusal>();
        var failures = new ArrayList<IOException>();
        for (var attempt : attempts) {
            try {
                var part = Duration.ofNanos(Math.max(0, deadline.remainingNanos()) / left--);
                return connect(attempt, List.copyOf(refusals), Deadline.after(part), adaptors);
            } catch (AsynchronousCloseException e) {
                throw e; // interrupted
            } catch (IOException e) {
                failures.add(e);
                refusals.add(new Refusal(attempt.transport, e.getMessage()));
            }
        }
        throw unreachable(host + ":" + port, refusals, failures);
    }

    private record Attempt(InetSocketAddress address, StreamTransport transport) {}

    /** All addresses over what is preferred for each, then over what comes second, and so on. */
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
            Attempt attempt, List<Refusal> refusals, Deadline deadline, Adaptors adaptors)
            throws IOException {
        var family =
                attempt.address.getAddress() instanceof Inet4Address
                        ? InternetFamily.IPV4
                        : InternetFamily.IPV6;
        var opened = TransportList.open(attempt.transport, family, refusals);
        var channel =
                new StreamChannel(
                        PROVIDER, opened.descriptor(), StreamKind.internet(opened), null, adaptors);
        channel.connect(attempt.address, deadline);
        return channel;
    }

    private static FabricException unreachable(
            String peer, List<Refusal> refusals, List<IOException> failures) {
        var message =
                refusals.stream()
                        .map(Refusal::toString)
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
     * Listens over the first of the transports that this machine can use: those that the policy has
     * for the address, or else the configured ones.
     */
    public static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
        return listen(address, PROVIDER);
    }

    /**
     * Listens over the first of these transports that this machine can use, whatever the policy.
     */
    public static ServerSocketChannel listen(InetSocketAddress address, List<Transport> preferred)
            throws IOException {
        return listen(address, new FabricSelectorProvider(preferred));
    }

    private static ServerSocketChannel listen(
            InetSocketAddress address, FabricSelectorProvider provider) throws IOException {
        var listener = provider.openServerSocketChannel();
        try {
            return listener.bind(address);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /**
     * Reads the policy again at once, which otherwise happens within a second of a change. Streams
     * that are connected stay as they are. Nothing if there is no policy.
     *
     * @throws FabricException if the file is missing, or names the file and the line that is bad;
     *     then the rules that were read before stay
     */
    public static void reloadPolicy() throws FabricException {
        Preferences.configured().reload();
    }
}
