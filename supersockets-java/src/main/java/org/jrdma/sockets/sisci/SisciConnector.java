package org.jrdma.sockets.sisci;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sockets.bypass.BypassConnector;
import org.jrdma.sockets.internal.NetworkNamespace;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream over segments that is being connected. */
public final class SisciConnector extends BypassConnector {

    /** How long to repeat the request to a listener whose queue is full. */
    private static final Duration FULL_QUEUE_TIMEOUT = Duration.ofSeconds(2);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(SisciConnector.class);

    private final SisciFabric fabric;
    private final Target target;
    private final int ringBytes;

    SisciConnector(SisciFabric fabric, Target target, int ringBytes, Consumer<String> refused) {
        super(fabric::executeConnect, refused);
        this.fabric = fabric;
        this.target = target;
        this.ringBytes = ringBytes;
    }

    /** Where to connect to, found out on the fabric's thread, since that may block. */
    public interface Target {

        /** The address that the program has named. */
        InetSocketAddress address();

        /**
         * The node that has it.
         *
         * @throws FabricException with the reason, if none is known
         */
        int node() throws IOException;

        /** This side's address, for the peer; found out when there is a listener. */
        InetSocketAddress local() throws IOException;
    }

    /** The reply to the request of a stream. */
    private record Outcome(SisciStream stream, ConnectReply reply) {}

    @Override
    protected SisciStream connect(Deadline programs) throws IOException {
        var deadline = programs.earlier(Deadline.after(TIMEOUT));
        var node = target.node();
        var untilThereIsRoom = Deadline.after(FULL_QUEUE_TIMEOUT);
        var route = new SegmentPair.Route(node, target.address(), ringBytes);
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            var again = connectAgain(route, deadline);
            var outcome = again == null ? connectFirst(route, deadline) : again;
            if (outcome.reply == ConnectReply.ACCEPTED) {
                return outcome.stream;
            }
            if (outcome.reply != ConnectReply.QUEUE_FULL
                    || untilThereIsRoom.hasPassed()
                    || isAbandoned()) {
                throw failure(node, new FabricException(outcome.reply.reason()));
            }
            LockSupport.parkNanos(pause); // as TCP asks again where a queue is full
        }
    }

    /**
     * Connects by segments that are connected; null if there are none, or the listener has gone.
     */
    private @Nullable Outcome connectAgain(SegmentPair.Route route, Deadline deadline)
            throws IOException {
        var stream = fabric.next(route);
        if (stream == null) {
            return null;
        }
        try {
            stream.request(request(stream));
            var reply = awaitReply(stream, deadline);
            if (reply != ConnectReply.ACCEPTED) {
                stream.close(false); // the segments wait for another time
            }
            return reply == ConnectReply.ACCEPTED || reply == ConnectReply.QUEUE_FULL
                    ? new Outcome(stream, reply)
                    : null;
        } catch (FabricException e) {
            LOG.debug("Cannot connect by connected segments: {}", e.getMessage());
            stream.close(true);
            return null;
        } catch (IOException | RuntimeException e) {
            stream.close(true);
            throw e;
        }
    }

    /** Connects by new segments. */
    private Outcome connectFirst(SegmentPair.Route route, Deadline deadline) throws IOException {
        var number = requestInterrupt(route.node(), target.address().getPort());
        var stream = SisciStream.open(fabric, ringBytes, route);
        try {
            send(route.node(), number, request(stream), deadline);
            var reply = awaitReply(stream, deadline);
            if (reply != ConnectReply.ACCEPTED) {
                stream.abandon();
            }
            return new Outcome(stream, reply);
        } catch (FabricException e) {
            stream.abandon();
            throw failure(route.node(), e);
        } catch (IOException | RuntimeException e) {
            stream.abandon();
            throw e;
        }
    }

    /**
     * Waits for the reply of the listener, and joins if it accepts.
     *
     * @throws FabricException if there is no reply
     */
    private static ConnectReply awaitReply(SisciStream stream, Deadline deadline)
            throws FabricException, InterruptedIOException {
        if (!new ReadinessWaiting(stream, SocketCalls.POLLIN, 0).await(deadline)) {
            throw new FabricException("its listener does not answer");
        }
        var code = stream.replyCode();
        if (code == 0) {
            throw new FabricException("its listener has gone");
        }
        var reply =
                ConnectReply.of(code)
                        .orElseThrow(() -> new FabricException("its listener answers " + code));
        if (reply == ConnectReply.ACCEPTED) {
            stream.joinAccepting(Duration.ofNanos(Math.max(0, deadline.remainingNanos())));
        }
        return reply;
    }

    private static FabricException failure(int node, FabricException e) {
        return new FabricException("node %d: %s".formatted(node, e.getMessage()), e.code(), e);
    }

    private ConnectRequest request(SisciStream stream) throws IOException {
        return new ConnectRequest(
                fabric.nodeId(),
                stream.segmentId(),
                fabric.wakeUpNumber(),
                NetworkNamespace.id(),
                target.local(),
                target.address());
    }

    /** The data interrupt for requests at a port. */
    private int requestInterrupt(int node, int port)
            throws FabricException, InterruptedIOException {
        try (var segment =
                        fabric.node().connect(node, SisciListener.segmentId(port), Duration.ZERO);
                var map = segment.map()) {
            if (map.getLongAcquire(SisciListener.KIND) != SisciListener.THIS_KIND) {
                throw new FabricException(
                        "node %d has something else at port %d".formatted(node, port));
            }
            return (int) map.getLong(SisciListener.NUMBER);
        } catch (FabricTimeoutException e) {
            if (!fabric.node().probe(node)) {
                throw new FabricException("node %d cannot be reached".formatted(node), 0, e);
            }
            throw new FabricException(
                    "Connection refused: nobody listens at port %d of node %d"
                            .formatted(port, node),
                    0,
                    e);
        }
    }

    private void send(int node, int number, ConnectRequest request, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var left = Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
        try (var interrupt = fabric.node().connectDataInterrupt(node, number, left)) {
            interrupt.trigger(request.encode(), left);
        }
    }
}
