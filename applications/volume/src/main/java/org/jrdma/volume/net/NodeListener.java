package org.jrdma.volume.net;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.jrdma.ffi.Deadline;
import org.jrdma.volume.model.VolumeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts connections of other nodes over each transport that is available. Closing a listener
 * closes its connections. Safe for use by multiple threads.
 */
public final class NodeListener implements AutoCloseable {

    private static final long PAUSE_NANOS = 100_000_000;
    private static final Logger LOG = LoggerFactory.getLogger(NodeListener.class);

    private final NodeOptions options;
    private final RequestHandler handler;
    private final List<WireListener> listeners = new ArrayList<>();
    private final List<SkippedTransport> failures = new ArrayList<>();
    private final Set<NodeConnection> connections = ConcurrentHashMap.newKeySet();
    private final Semaphore free;
    private volatile boolean closed;

    private NodeListener(NodeOptions options, RequestHandler handler) {
        this.options = options;
        this.handler = handler;
        this.free = new Semaphore(options.connections);
    }

    /**
     * Listens over each transport of the options that is available. {@link #failures()} returns the
     * others.
     *
     * @param handler handles the requests of all peers
     * @throws VolumeException if no transport is available; the message has the reason for each
     */
    public static NodeListener open(NodeOptions options, RequestHandler handler)
            throws VolumeException {
        var listener = new NodeListener(options, handler);
        for (var transport : options.transports) {
            try {
                listener.listeners.add(WireListener.open(transport, options));
            } catch (IOException | IllegalArgumentException e) {
                listener.failures.add(
                        new SkippedTransport(
                                transport,
                                address(transport, options),
                                String.valueOf(e.getMessage())));
            }
        }
        if (listener.listeners.isEmpty()) {
            throw new VolumeException(
                    "Cannot listen over any of the transports %s.".formatted(options.transports)
                            + listener.failures.stream()
                                    .map(skipped -> " " + skipped)
                                    .map(text -> text.endsWith(".") ? text : text + ".")
                                    .collect(Collectors.joining()));
        }
        for (var accepting : listener.listeners) {
            Thread.ofVirtual()
                    .name("jrdma-accept-" + accepting.transport())
                    .start(() -> listener.acceptAll(accepting));
        }
        return listener;
    }

    /** Returns the address that the options select; the name of the transport if there is none. */
    private static String address(TransportKind transport, NodeOptions options) {
        var address = options.socketAddress;
        return transport != TransportKind.SOCKETS
                        || address.isUnresolved()
                        || address.getAddress().isAnyLocalAddress()
                ? transport.toString()
                : HostAndPort.of(address).toString(transport);
    }

    /** The addresses for {@link NodeConnection#connect}. */
    public List<String> addresses() {
        return listeners.stream().flatMap(listener -> listener.addresses().stream()).toList();
    }

    /** The transports of the options that are not available. */
    public List<SkippedTransport> failures() {
        return List.copyOf(failures);
    }

    /** The open connections that this listener has accepted. */
    public List<NodeConnection> connections() {
        return List.copyOf(connections);
    }

    private void acceptAll(WireListener listener) {
        while (!closed) {
            try {
                var request = listener.next();
                Thread.startVirtualThread(() -> accept(listener, request));
            } catch (IOException | RuntimeException e) {
                if (!closed) {
                    LOG.warn("Cannot accept a connection over {}", listener.transport(), e);
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            }
        }
    }

    private void accept(WireListener listener, WireListener.WireRequest request) {
        var deadline = Deadline.after(options.silence);
        if (!free.tryAcquire()) {
            LOG.warn(
                    "Rejected a connection over {}: {} connections are open.",
                    listener.transport(),
                    options.connections);
            request.reject();
            return;
        }
        NodeConnection connection;
        try {
            connection =
                    NodeConnection.accept(request.accept(deadline), options, handler, deadline);
        } catch (IOException | RuntimeException e) {
            free.release();
            LOG.debug(
                    "A connection over {} failed during its handshake: {}",
                    listener.transport(),
                    e.getMessage());
            return;
        }
        handler.connected(connection);
        var _ = connection.start();
        connections.add(connection);
        var _ =
                connection
                        .freed()
                        .thenRun(() -> {
                            connections.remove(connection);
                            free.release();
                        });
        if (closed) {
            connection.close(); // close() may have run before the connection was added
        }
    }

    /** Stops listening, and closes the connections that this listener has accepted. */
    @Override
    public void close() {
        closed = true;
        listeners.forEach(WireListener::close);
        connections.forEach(NodeConnection::close);
    }

    @Override
    public String toString() {
        return "listener at " + addresses();
    }
}
