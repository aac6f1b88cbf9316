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
import org.jrdma.sockets.Transports.Refusal;
import org.jrdma.sockets.internal.InternetFamily;

/**
 * Streams on the fastest path there is, for programs that ask for them. Safe for use by several
 * threads.
 */
public final class FabricSockets {

    private static final FabricSelectorProvider PROVIDER = new FabricSelectorProvider();

    private FabricSockets() {}

    /**
     * Connects over the first of the configured transports that leads to the peer: {@code
     * -Djrdma.sockets.transports=supersockets,smc,tcp} unless said otherwise.
     *
     * @see #connect(String, int, List, Duration)
     */
    public static FabricSocketChannel connect(String host, int port, Duration timeout)
            throws IOException {
        return connect(host, port, Transports.configured(), timeout);
    }

    /**
     * Connects over the first of these transports that leads to the peer; {@link Connections#of}
     * says which one it is, and why none before it. A virtual thread that waits leaves its carrier.
     *
     * @param timeout for all attempts together: each has an equal part of what is left, so that a
     *     path on which nothing comes back leaves time for the next
     * @throws UnknownHostException if there is no such host
     * @throws FabricTimeoutException if none leads there in this time
     * @throws FabricException if none leads there at all; either says why of each
     * @throws java.nio.channels.ClosedByInterruptException if the thread is interrupted
     */
    public static FabricSocketChannel connect(
            String host, int port, List<Transport> preferred, Duration timeout) throws IOException {
        return connect(host, port, new Transports(preferred), timeout);
    }

    private static FabricSocketChannel connect(
            String host, int port, Transports transports, Duration timeout) throws IOException {
        var deadline = Deadline.after(timeout);
        InetAddress[] addresses = PlatformCalls.call(() -> InetAddress.getAllByName(host));
        var left = transports.preferred().size() * addresses.length;
        var refusals = new ArrayList<Refusal>();
        var failures = new ArrayList<IOException>();
        for (var transport : transports.preferred()) {
            for (var address : addresses) {
                try {
                    var part = Duration.ofNanos(Math.max(0, deadline.remainingNanos()) / left--);
                    return connect(
                            new InetSocketAddress(address, port),
                            transport,
                            List.copyOf(refusals),
                            Deadline.after(part));
                } catch (AsynchronousCloseException e) {
                    throw e; // interrupted
                } catch (IOException e) {
                    failures.add(e);
                    refusals.add(new Refusal(transport, e.getMessage()));
                }
            }
        }
        throw unreachable(host + ":" + port, refusals, failures);
    }

    private static FabricSocketChannel connect(
            InetSocketAddress address,
            Transport transport,
            List<Refusal> refusals,
            Deadline deadline)
            throws IOException {
        var family =
                address.getAddress() instanceof Inet4Address
                        ? InternetFamily.IPV4
                        : InternetFamily.IPV6;
        var opened = Transports.open(transport, family, refusals);
        var channel =
                new StreamChannel(PROVIDER, opened.descriptor(), StreamKind.internet(opened), null);
        channel.connect(address, deadline);
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

    /** Listens over the first of the configured transports that this machine can use. */
    public static ServerSocketChannel listen(InetSocketAddress address) throws IOException {
        return listen(address, PROVIDER);
    }

    /** Listens over the first of these transports that this machine can use. */
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
}
