package org.jrdma.volume.net;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.BulkTransfer.Direction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A link to a node that outlives its connections. If a connection ends, the link connects over the
 * next transport that works, and repeats the calls that are repeatable. It later tries the
 * preferred transports again, and returns to the best one without disturbing calls in progress.
 *
 * <p>A single thread connects. Calls wait for it. If no transport works, calls fail at once, and
 * the link goes on trying. Each change is logged at INFO with its reason. Safe for use by multiple
 * threads.
 */
public final class NodeLink implements AutoCloseable {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Logger LOG = LoggerFactory.getLogger(NodeLink.class);

    private final String node;
    private final List<WireAddress> addresses;
    private final NodePolicy policy;
    private final RequestHandler handler;
    private final Duration retryInterval;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // The following fields are guarded by the lock.

    private @Nullable LinkPath path;
    private boolean closed;

    /** The number of completed attempts to connect while there was no connection. */
    private long rounds;

    /** True if a call waits for a connection. */
    private boolean wanted;

    private Deadline nextRetry = Deadline.after(Duration.ZERO);
    private Duration retryPause = FIRST_PAUSE;
    private VolumeException failure = new VolumeException("Not connected yet.");

    /** The addresses whose connection ended or that could not be connected, with the reasons. */
    private final Map<WireAddress, Unused> unused = new HashMap<>();

    private Instant since = Instant.now();
    private long lostNanos = System.nanoTime();
    private int switches;
    private String reason = "";
    private Duration pause = Duration.ZERO;

    /** An address that is not used before the deadline passes, unless no other works. */
    private record Unused(TransportFailure failure, Deadline until) {}

    private NodeLink(
            String node,
            List<String> addresses,
            NodePolicy policy,
            RequestHandler handler,
            Duration retryInterval)
            throws FabricException {
        this.node = node;
        this.addresses = WireAddress.select(addresses, policy);
        this.policy = policy;
        this.handler = handler;
        this.retryInterval = retryInterval;
        if (this.addresses.isEmpty()) {
            throw new VolumeException(
                    "The node %s has no address for the transports %s: %s"
                            .formatted(node, policy.transports(), addresses));
        }
    }

    /**
     * Opens a link, which starts to connect.
     *
     * @param node the name of the node for messages
     * @param addresses the addresses of the node
     * @param handler handles the requests of the node
     * @param retryInterval the time after which a transport that failed is tried again
     * @throws FabricException if no address belongs to a transport of the policy
     */
    public static NodeLink open(
            String node,
            List<String> addresses,
            NodePolicy policy,
            RequestHandler handler,
            Duration retryInterval)
            throws FabricException {
        var link = new NodeLink(node, addresses, policy, handler, retryInterval);
        Thread.ofVirtual().name("jrdma-link-" + node).start(link::maintain);
        return link;
    }

    /** Whether a call may be made twice. */
    public enum Repeat {
        /** The call has the same effect if it is made twice, so it is repeated. */
        REPEATABLE,
        /** If the connection ends during the call, the call fails. */
        ONCE
    }

    /** Makes a call without bulk data. */
    public ByteBuffer call(ByteBuffer request, Repeat repeat, Deadline deadline)
            throws IOException {
        return call(request, MemorySegment.NULL, null, repeat, deadline);
    }

    /**
     * Makes a call, and repeats it if the connection ends and the call is repeatable.
     *
     * @param data the bulk data, which is copied to or from a buffer of the connection
     * @param direction the direction of the bulk data; null for none
     * @return the reply
     * @throws RequestFailedException if the handler of the node failed
     * @throws ConnectionLostException if the connection ended during a call that is not repeatable
     * @throws VolumeException if no transport works; the message has the reason for each
     * @throws org.jrdma.ffi.FabricTimeoutException if there is no reply before the deadline
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     * @throws IllegalStateException if this link is closed
     */
    public ByteBuffer call(
            ByteBuffer request,
            MemorySegment data,
            @Nullable Direction direction,
            Repeat repeat,
            Deadline deadline)
            throws IOException {
        while (true) {
            var current = path(deadline);
            if (!current.users().enter()) {
                continue; // it was replaced
            }
            try {
                return current.call(request.duplicate(), data, direction, deadline);
            } catch (ConnectionLostException e) {
                if (repeat == Repeat.ONCE) {
                    throw e;
                }
                LOG.debug("Repeating a call to {}: {}", node, e.getMessage());
            } finally {
                current.users().leave();
            }
        }
    }

    /** Returns the current path, and waits for one attempt to connect if there is none. */
    private LinkPath path(Deadline deadline) throws FabricException, InterruptedIOException {
        lock.lock();
        try {
            var start = rounds;
            while (true) {
                if (closed) {
                    throw new IllegalStateException("The link to %s is closed".formatted(node));
                }
                var current = path;
                if (current != null && current.isOpen()) {
                    return current;
                }
                if (rounds != start) {
                    throw new VolumeException(failure.getMessage(), failure);
                }
                wanted = true;
                changed.signalAll();
                var remaining = deadline.remainingNanos();
                if (remaining <= 0) {
                    throw deadline.missed("No connection to " + node);
                }
                var _ = changed.awaitNanos(remaining);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while connecting to " + node);
        } finally {
            lock.unlock();
        }
    }

    /** Runs on the thread that connects. */
    private void maintain() {
        try {
            while (awaitWork()) {
                if (isConnected()) {
                    improve();
                } else {
                    reconnect();
                }
            }
        } catch (InterruptedException | InterruptedIOException e) {
            LOG.warn("The link to {} no longer connects: its thread was interrupted", node);
        }
    }

    private boolean isConnected() {
        lock.lock();
        try {
            return path != null && path.isOpen();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until an attempt to connect is due. Returns false if the link is closed. */
    private boolean awaitWork() throws InterruptedException {
        lock.lock();
        try {
            while (!closed) {
                noteEnd();
                var best = path != null && path.address().equals(addresses.getFirst());
                if ((path == null && wanted) || (!best && nextRetry.hasPassed())) {
                    return true;
                }
                var _ = changed.awaitNanos(best ? Long.MAX_VALUE : nextRetry.remainingNanos());
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Records the end of the current connection. */
    private void noteEnd() {
        var current = path;
        if (current == null || current.isOpen()) {
            return;
        }
        path = null;
        current.users().close();
        reason = String.valueOf(current.connection().end().orElseThrow().getMessage());
        lostNanos = System.nanoTime();
        since = Instant.now();
        nextRetry = Deadline.after(Duration.ZERO);
        retryPause = FIRST_PAUSE;
        avoid(current.address(), new VolumeException(reason));
        LOG.info("The connection to {} was lost. {}", node, reason);
    }

    private void avoid(WireAddress address, Exception cause) {
        unused.put(address, new Unused(address.failed(cause), Deadline.after(retryInterval)));
    }

    /** Connects over the addresses that did not fail recently, and otherwise over the others. */
    private void reconnect() throws InterruptedIOException {
        var preferred = new ArrayList<WireAddress>();
        var others = new ArrayList<WireAddress>();
        lock.lock();
        try {
            for (var address : addresses) {
                var known = unused.get(address);
                (known == null || known.until.hasPassed() ? preferred : others).add(address);
            }
        } finally {
            lock.unlock();
        }
        var connected = connect(preferred);
        if (connected == null) {
            connected = connect(others);
        }
        lock.lock();
        try {
            if (connected != null) {
                use(connected);
            } else {
                failure =
                        new VolumeException(
                                "No transport reaches the node %s. %s".formatted(node, reasons()));
                nextRetry = Deadline.after(retryPause);
                retryPause = min(retryPause.multipliedBy(2), retryInterval);
            }
            wanted = false;
            rounds++;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private String reasons() {
        return addresses.stream()
                .map(unused::get)
                .filter(known -> known != null)
                .map(known -> known.failure.toString())
                .reduce((one, other) -> one + "; " + other)
                .orElse("");
    }

    /** Tries the addresses that are preferred to the current one. */
    private void improve() throws InterruptedIOException {
        List<WireAddress> better;
        lock.lock();
        try {
            var current = path;
            better =
                    current == null
                            ? List.of()
                            : addresses.subList(0, addresses.indexOf(current.address()));
        } finally {
            lock.unlock();
        }
        var connected = connect(better);
        lock.lock();
        try {
            nextRetry = Deadline.after(retryInterval);
            if (connected != null) {
                use(connected);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Connects over one of several addresses, the first of which is tried first. */
    private @Nullable LinkPath connect(List<WireAddress> candidates) throws InterruptedIOException {
        for (var address : candidates) {
            try {
                var connection =
                        NodeConnection.connect(
                                address,
                                policy,
                                handler,
                                List.of(),
                                Deadline.after(policy.silence));
                return new LinkPath(connection, address, policy.calls);
            } catch (InterruptedIOException e) {
                throw e;
            } catch (IOException | RuntimeException e) { // such as an invalid system property
                lock.lock();
                try {
                    avoid(address, e);
                } finally {
                    lock.unlock();
                }
            }
        }
        return null;
    }

    /** Makes calls use a new connection. */
    private void use(LinkPath connected) {
        noteEnd();
        if (closed) {
            connected.users().close();
            return;
        }
        var replaced = path;
        var first = switches == 0 && reason.isEmpty() && replaced == null;
        path = connected;
        unused.remove(connected.address());
        since = Instant.now();
        nextRetry = Deadline.after(retryInterval);
        if (replaced != null) {
            reason = "%s is available again".formatted(connected.connection().transport());
            pause = Duration.ZERO;
            replaced.users().close();
        } else {
            pause = Duration.ofNanos(System.nanoTime() - lostNanos);
        }
        switches += first ? 0 : 1;
        if (first) {
            LOG.info("Connected to {} over {}. {}", node, connected.connection(), reasons());
        } else {
            LOG.info(
                    "Continued to {} over {} after {} ms: {}",
                    node,
                    connected.connection(),
                    pause.toMillis(),
                    reason);
        }
        var _ = connected.connection().ended().thenRun(this::signal);
        changed.signalAll();
    }

    private void signal() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the current state. */
    public LinkState state() {
        lock.lock();
        try {
            var current = path;
            var better =
                    current == null
                            ? addresses
                            : addresses.subList(0, addresses.indexOf(current.address()));
            return new LinkState(
                    node,
                    current == null
                            ? Optional.empty()
                            : Optional.of(current.connection().transport()),
                    current == null ? "not connected" : current.connection().toString(),
                    since,
                    better.stream()
                            .map(unused::get)
                            .filter(known -> known != null)
                            .map(Unused::failure)
                            .toList(),
                    switches,
                    reason,
                    pause);
        } finally {
            lock.unlock();
        }
    }

    /** Closes the link and its connection. Outstanding calls fail. */
    @Override
    public void close() {
        LinkPath current;
        lock.lock();
        try {
            closed = true;
            current = path;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (current != null) {
            current.connection().close();
        }
    }

    @Override
    public String toString() {
        return "link to " + node;
    }
}
