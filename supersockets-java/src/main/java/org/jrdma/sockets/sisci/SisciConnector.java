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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A stream over segments that is being connected. */
public final class SisciConnector extends BypassConnector {

    /** How long to ask a listener again whose queue is full. */
    private static final Duration FULL_QUEUE_PATIENCE = Duration.ofSeconds(2);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(SisciConnector.class);

    private final SisciFabric fabric;
    private final Target target;
    private final int ringBytes;

    SisciConnector(SisciFabric fabric, Target target, int ringBytes, Consumer<String> refused) {
        super(fabric::lend, refused);
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

    /** What became of a stream that called. */
    private record Outcome(SisciStream stream, ConnectReply answer) {}

    @Override
    protected SisciStream connect(Deadline programs) throws IOException {
        var deadline = programs.earlier(Deadline.after(PATIENCE));
        var node = target.node();
        var untilThereIsRoom = Deadline.after(FULL_QUEUE_PATIENCE);
        var route = new SegmentPair.Route(node, target.address(), ringBytes);
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            var again = callAgain(route, deadline);
            var outcome = again == null ? callFirst(route, deadline) : again;
            if (outcome.answer == ConnectReply.ACCEPTED) {
                return outcome.stream;
            }
            if (outcome.answer != ConnectReply.QUEUE_FULL
                    || untilThereIsRoom.hasPassed()
                    || isAbandoned()) {
                throw failure(node, new FabricException(outcome.answer.reason()));
            }
            LockSupport.parkNanos(pause); // as TCP asks again where a queue is full
        }
    }

    /** By segments that are there; null if there are none, or they do not lead there any more. */
    private @Nullable Outcome callAgain(SegmentPair.Route route, Deadline deadline)
            throws IOException {
        var stream = fabric.next(route);
        if (stream == null) {
            return null;
        }
        try {
            stream.call(greeting(stream));
            var answer = stream.awaitAnswer(deadline);
            if (answer != ConnectReply.ACCEPTED) {
                stream.close(false); // the segments wait for another time
            }
            return answer == ConnectReply.ACCEPTED || answer == ConnectReply.QUEUE_FULL
                    ? new Outcome(stream, answer)
                    : null;
        } catch (FabricException e) {
            LOG.debug("Not by segments that were there: {}", e.getMessage());
            stream.close(true);
            return null;
        } catch (IOException | RuntimeException e) {
            stream.close(true);
            throw e;
        }
    }

    /** By new segments. */
    private Outcome callFirst(SegmentPair.Route route, Deadline deadline) throws IOException {
        var number = doorOf(route.node(), target.address().getPort());
        var stream = SisciStream.open(fabric, ringBytes, route);
        try {
            greet(route.node(), number, greeting(stream), deadline);
            var answer = stream.awaitAnswer(deadline);
            if (answer != ConnectReply.ACCEPTED) {
                stream.abandon();
            }
            return new Outcome(stream, answer);
        } catch (FabricException e) {
            stream.abandon();
            throw failure(route.node(), e);
        } catch (IOException | RuntimeException e) {
            stream.abandon();
            throw e;
        }
    }

    private static FabricException failure(int node, FabricException e) {
        return new FabricException("node %d: %s".formatted(node, e.getMessage()), e.code(), e);
    }

    private ConnectRequest greeting(SisciStream stream) throws IOException {
        return new ConnectRequest(
                fabric.nodeId(),
                stream.segmentId(),
                fabric.bellNumber(),
                NetworkNamespace.id(),
                target.local(),
                target.address());
    }

    /** The data interrupt that takes greetings for a port. */
    private int doorOf(int node, int port) throws FabricException, InterruptedIOException {
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

    private void greet(int node, int number, ConnectRequest greeting, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var left = Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
        try (var door = fabric.node().connectDataInterrupt(node, number, left)) {
            door.trigger(greeting.encode(), left);
        }
    }
}
