package org.jrdma.sockets.sisci;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.bypass.LazyBinding;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection attempt over SISCI. */
public final class SisciConnector extends BypassConnector {

    /**
     * The time during which the connect request is repeated if the accept queue of the listener is
     * full.
     */
    private static final Duration FULL_QUEUE_TIMEOUT = Duration.ofSeconds(2);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long MAX_PAUSE_NANOS = 50_000_000;
    private static final int MAX_PORT = 0xffff;

    private static final Logger LOG = LoggerFactory.getLogger(SisciConnector.class);

    private final SisciStreamNode streamNode;
    private final SisciHosts hosts;
    private final InetSocketAddress address;
    private final LazyBinding binding;
    private final int ringBytes;

    public SisciConnector(
            SisciStreamNode streamNode,
            SisciHosts hosts,
            InetSocketAddress address,
            LazyBinding binding,
            int ringBytes,
            Consumer<String> onFailure) {
        super(streamNode::executeConnect, onFailure);
        this.streamNode = streamNode;
        this.hosts = hosts;
        this.address = address;
        this.binding = binding;
        this.ringBytes = ringBytes;
    }

    /** A stream that has sent a connect request, and the reply of the listener. */
    private record Outcome(SisciStream stream, ConnectReply reply) {}

    @Override
    protected SisciStream connect(Deadline programDeadline) throws IOException {
        var deadline = programDeadline.earlier(Deadline.after(TIMEOUT));
        var node = hosts.nodeOf(address.getAddress(), streamNode.nodeId());
        var queueDeadline = Deadline.after(FULL_QUEUE_TIMEOUT);
        var route = new StreamSegment.Route(node, address, ringBytes);
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, MAX_PAUSE_NANOS)) {
            var reused = connectReusing(route, deadline);
            var outcome = reused == null ? connectNew(route, deadline) : reused;
            if (outcome.reply == ConnectReply.ACCEPTED) {
                return outcome.stream;
            }
            if (outcome.reply != ConnectReply.QUEUE_FULL
                    || queueDeadline.hasPassed()
                    || isAbandoned()) {
                throw failure(node, new FabricException(outcome.reply.reason()));
            }
            // If the accept queue is full, the request is repeated after a pause, as in TCP.
            LockSupport.parkNanos(pause);
        }
    }

    /**
     * Connects over the segments of an earlier stream to the same listener, which are still
     * connected.
     *
     * @return null if the caller must connect new segments: there are no connected ones, they have
     *     failed, or the listener has rejected the request although its accept queue is not full
     */
    private @Nullable Outcome connectReusing(StreamSegment.Route route, Deadline deadline)
            throws IOException {
        var stream = streamNode.next(route);
        if (stream == null) {
            return null;
        }
        try {
            stream.request(request(stream, binding.bind(), 0));
            var reply = awaitReply(stream, deadline);
            if (reply != ConnectReply.ACCEPTED) {
                stream.close(false); // Closing the stream keeps the segments for another attempt.
            }
            return reply == ConnectReply.ACCEPTED || reply == ConnectReply.QUEUE_FULL
                    ? new Outcome(stream, reply)
                    : null;
        } catch (FabricException e) {
            LOG.debug("Could not reuse connected segments: {}", e.getMessage());
            stream.close(true);
            return null;
        } catch (Throwable e) {
            stream.close(true);
            throw e;
        }
    }

    private Outcome connectNew(StreamSegment.Route route, Deadline deadline) throws IOException {
        var listener = find(route.node(), address.getPort());
        var client = binding.bind();
        var cookie = cookie(route.node(), client.getAddress(), listener.cookiePort, deadline);
        var stream = SisciStream.open(streamNode, ringBytes, route);
        try {
            send(route.node(), listener.interrupt, request(stream, client, cookie), deadline);
            var reply = awaitReply(stream, deadline);
            if (reply != ConnectReply.ACCEPTED) {
                stream.abandon();
            }
            return new Outcome(stream, reply);
        } catch (FabricException e) {
            stream.abandon();
            throw failure(route.node(), e);
        } catch (Throwable e) {
            stream.abandon();
            throw e;
        }
    }

    /**
     * Waits for the reply of the listener. If the listener accepts, connects to its segment.
     *
     * @throws FabricException if there is no valid reply, or connecting to the segment fails
     */
    private static ConnectReply awaitReply(SisciStream stream, Deadline deadline)
            throws FabricException, InterruptedIOException {
        if (!new ReadinessWaiting(stream, SocketCalls.POLLIN, 0).await(deadline)) {
            throw new FabricException("its listener did not reply in time");
        }
        var code = stream.replyCode();
        if (code == 0) {
            throw new FabricException("its listener was closed");
        }
        var reply =
                ConnectReply.of(code)
                        .orElseThrow(() ->
                                new FabricException("its listener sent the unknown reply " + code));
        if (reply == ConnectReply.ACCEPTED) {
            stream.joinAccepting(Duration.ofNanos(Math.max(0, deadline.remainingNanos())));
        }
        return reply;
    }

    private static FabricException failure(int node, FabricException e) {
        return new FabricException("node %d: %s".formatted(node, e.getMessage()), e.code(), e);
    }

    /** Obtains the cookie that proves to the listener that this client owns its IP address. */
    private long cookie(int node, InetAddress client, int port, Deadline deadline)
            throws FabricException {
        try {
            var listener = new InetSocketAddress(address.getAddress(), port);
            return AddressCookies.request(client, listener, deadline);
        } catch (FabricException e) {
            throw failure(node, e);
        }
    }

    private ConnectRequest request(SisciStream stream, InetSocketAddress client, long cookie) {
        return new ConnectRequest(
                streamNode.nodeId(),
                stream.segmentId(),
                streamNode.wakeUpNumber(),
                cookie,
                client,
                address);
    }

    /**
     * The data that a listener announces to its clients.
     *
     * @param interrupt the number of the data interrupt for connect requests
     * @param cookiePort the UDP port for cookies, see {@link AddressCookies}
     */
    private record Announcement(int interrupt, int cookiePort) {}

    /**
     * Finds the listener at a port.
     *
     * @throws FabricException if no listener at the port can be reached
     */
    private Announcement find(int node, int port) throws FabricException, InterruptedIOException {
        try (var segment =
                        streamNode
                                .node()
                                .connect(node, SisciListener.segmentId(port), Duration.ZERO);
                var map = segment.map()) {
            if (map.getLongAcquire(SisciListener.KIND) != SisciListener.THIS_KIND) {
                throw new FabricException(
                        "node %d has no listener at port %d, but a segment of another kind with the id of a listener"
                                .formatted(node, port));
            }
            var cookiePort = map.getLong(SisciListener.COOKIE_PORT);
            if (cookiePort < 1 || cookiePort > MAX_PORT) {
                throw new FabricException(
                        "node %d announces an invalid UDP port: %d".formatted(node, cookiePort));
            }
            return new Announcement((int) map.getLong(SisciListener.NUMBER), (int) cookiePort);
        } catch (FabricTimeoutException e) {
            if (!streamNode.node().probe(node)) {
                throw new FabricException("node %d cannot be reached".formatted(node), 0, e);
            }
            throw new FabricException(
                    "Connection refused: no listener at port %d of node %d".formatted(port, node),
                    0,
                    e);
        }
    }

    private void send(int node, int number, ConnectRequest request, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var remaining = Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
        try (var interrupt = streamNode.node().connectDataInterrupt(node, number, remaining)) {
            interrupt.trigger(request.encode(), remaining);
        }
    }
}
