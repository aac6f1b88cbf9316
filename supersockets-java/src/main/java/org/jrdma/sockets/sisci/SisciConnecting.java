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
import org.jrdma.sockets.internal.ShortCutConnecting;

/** A stream over segments that is being connected. */
public final class SisciConnecting extends ShortCutConnecting {

    /** How long to wait for what a listener that is there does at once. */
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** How long to ask a listener again whose queue is full. */
    private static final Duration FULL_QUEUE_PATIENCE = Duration.ofSeconds(2);

    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 50_000_000;

    private final SisciFabric fabric;
    private final Target target;
    private final int ringBytes;

    SisciConnecting(SisciFabric fabric, Target target, int ringBytes, Consumer<String> refused) {
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

    @Override
    protected SisciStream connect() throws IOException {
        var node = target.node();
        var deadline = Deadline.after(TIMEOUT);
        var untilThereIsRoom = Deadline.after(FULL_QUEUE_PATIENCE);
        var number = doorOf(node, target.address().getPort());
        for (var pause = FIRST_PAUSE_NANOS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
            var stream = SisciStream.open(fabric, ringBytes);
            try {
                var greeting =
                        new Greeting(
                                fabric.nodeId(),
                                stream.segmentId(),
                                fabric.bellNumber(),
                                target.local(),
                                target.address());
                greet(node, number, greeting, deadline);
                var answer = stream.awaitAnswer(deadline);
                if (answer == Answer.ACCEPTED) {
                    return stream;
                }
                if (answer != Answer.QUEUE_FULL || untilThereIsRoom.hasPassed() || isAbandoned()) {
                    throw new FabricException(answer.reason());
                }
            } catch (FabricException e) {
                stream.abandon();
                throw new FabricException(
                        "node %d: %s".formatted(node, e.getMessage()), e.code(), e);
            } catch (IOException | RuntimeException e) {
                stream.abandon();
                throw e;
            }
            stream.abandon();
            LockSupport.parkNanos(pause); // as TCP asks again where a queue is full
        }
    }

    /** The data interrupt that takes greetings for a port. */
    private int doorOf(int node, int port) throws FabricException, InterruptedIOException {
        try (var segment = fabric.node().connect(node, SisciDoor.segmentId(port), Duration.ZERO);
                var map = segment.map()) {
            if (map.getLongAcquire(SisciDoor.KIND) != SisciDoor.THIS_KIND) {
                throw new FabricException(
                        "node %d has something else at port %d".formatted(node, port));
            }
            return (int) map.getLong(SisciDoor.NUMBER);
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

    private void greet(int node, int number, Greeting greeting, Deadline deadline)
            throws FabricException, InterruptedIOException {
        var left = Duration.ofNanos(Math.max(0, deadline.remainingNanos()));
        try (var door = fabric.node().connectDataInterrupt(node, number, left)) {
            door.trigger(greeting.encode(), left);
        }
    }
}
