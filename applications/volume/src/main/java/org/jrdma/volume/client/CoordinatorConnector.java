package org.jrdma.volume.client;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.RequestRedirection;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.RedirectReply;
import org.jrdma.volume.protocol.RequestHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects a client to the coordinator. If the client reaches only other servers, one of them
 * forwards its requests (file redirection). A server itself connects only directly, so that servers
 * do not forward requests to each other. Used by one thread at a time, except {@link #open}.
 */
final class CoordinatorConnector {

    private static final Logger LOG = LoggerFactory.getLogger(CoordinatorConnector.class);
    private static final Duration MIN_CONNECT_TIMEOUT = Duration.ofSeconds(1);

    /** Opens or continues the session over a connection. */
    @FunctionalInterface
    interface SessionStart {
        /** Throws an exception if the connection does not lead to the coordinator. */
        void over(ServerConnector.Connection connection) throws FabricException;
    }

    /**
     * A connection that leads to the coordinator.
     *
     * @param redirection the server that forwards the requests; empty if the connection is direct
     * @param coordinator the addresses of the coordinator; empty if the connection is direct
     */
    record Route(
            ServerConnector.Connection connection,
            Optional<RequestRedirection> redirection,
            List<String> coordinator) {}

    private final ClientOptions options;
    private final ServerConnector connector;
    private final UnaryOperator<ByteBuffer> incoming;
    private final SessionStart session;

    /** The servers that the last attempt has not reached, with the reasons. */
    private final Map<List<String>, String> unreachable = new HashMap<>();

    private int nextServer;

    /** The number of failed attempts since the last direct connection. */
    private int failures;

    /**
     * @param incoming executes the requests of the coordinator
     */
    CoordinatorConnector(
            ClientOptions options,
            ServerConnector connector,
            UnaryOperator<ByteBuffer> incoming,
            SessionStart session) {
        this.options = options;
        this.connector = connector;
        this.incoming = incoming;
        this.session = session;
    }

    /**
     * Makes one attempt to connect, with the next server.
     *
     * @param timeout the longest time for each connection
     */
    Route tryNext(Duration timeout) throws FabricException {
        try {
            return connect(options.servers().get(nextServer), timeout);
        } catch (FabricException e) {
            failures++;
            nextServer = (nextServer + 1) % options.servers().size();
            throw e;
        }
    }

    private Route connect(List<String> addresses, Duration timeout) throws FabricException {
        var connection = openServer(addresses, timeout);
        return closeUnlessUsed(
                connection,
                () -> {
                    try {
                        return direct(connection);
                    } catch (VolumeException e) {
                        if (e.failure() != Failure.NOT_COORDINATOR || !mayRedirect()) {
                            throw e;
                        }
                        return redirect(connection, timeout);
                    }
                });
    }

    @FunctionalInterface
    private interface RouteSelection {
        Route run() throws FabricException;
    }

    /** Closes a connection unless the selected route uses it. */
    private static Route closeUnlessUsed(
            ServerConnector.Connection connection, RouteSelection selection)
            throws FabricException {
        var isUsed = false;
        try {
            var route = selection.run();
            isUsed = route.connection() == connection;
            return route;
        } finally {
            if (!isUsed) {
                closeLater(connection);
            }
        }
    }

    private ServerConnector.Connection openServer(List<String> addresses, Duration timeout)
            throws FabricException {
        try {
            var connection = open(addresses, timeout);
            var _ = unreachable.remove(addresses);
            return connection;
        } catch (FabricException e) {
            unreachable.put(addresses, String.valueOf(e.getMessage()));
            throw e;
        }
    }

    private boolean mayRedirect() {
        return options.ownAddresses().isEmpty() && failures >= options.servers().size();
    }

    private Route redirect(ServerConnector.Connection connection, Duration timeout)
            throws FabricException {
        var reply =
                RedirectReply.decode(
                        connection.call(
                                RequestHeader.of(Operation.REDIRECT, 0).message(), timeout));
        var reason = unreachable.get(reply.coordinator());
        if (reason == null) {
            try {
                return startDirect(open(reply.coordinator(), timeout));
            } catch (FabricException e) {
                reason = String.valueOf(e.getMessage());
            }
        }
        session.over(connection);
        return new Route(
                connection,
                Optional.of(new RequestRedirection(reply.server(), reason)),
                reply.coordinator());
    }

    /** Connects to a server. */
    ServerConnector.Connection open(List<String> addresses, Duration timeout)
            throws FabricException {
        return connector.connect(addresses, incoming, timeout);
    }

    /** Starts the session over a connection to the coordinator. Closes it if that fails. */
    Route startDirect(ServerConnector.Connection connection) throws FabricException {
        return closeUnlessUsed(connection, () -> direct(connection));
    }

    private Route direct(ServerConnector.Connection connection) throws FabricException {
        session.over(connection);
        failures = 0;
        return new Route(connection, Optional.empty(), List.of());
    }

    /**
     * Returns the longest time for an attempt to connect to one server. The attempts for all
     * servers together must be shorter than the time for which a new coordinator waits for clients.
     */
    Duration connectTimeout(Duration sessionTimeout) {
        var part = sessionTimeout.dividedBy(options.servers().size());
        var limit = part.compareTo(MIN_CONNECT_TIMEOUT) > 0 ? part : MIN_CONNECT_TIMEOUT;
        return limit.compareTo(options.callTimeout()) > 0 ? options.callTimeout() : limit;
    }

    /** An attempt to replace a redirection by a direct connection. */
    @FunctionalInterface
    interface Attempt {
        /** Throws an exception if the coordinator cannot be reached. */
        void run() throws FabricException;
    }

    /** Repeats an attempt on a thread of its own, less and less often. */
    static void probe(String client, BooleanSupplier isRedirected, Attempt attempt) {
        Thread.ofVirtual()
                .name("volume-coordinator-" + client)
                .start(() -> {
                    var pause = ProbePause.FIRST;
                    while (isRedirected.getAsBoolean()) {
                        LockSupport.parkNanos(pause.nanos());
                        pause = pause.next();
                        try {
                            attempt.run();
                        } catch (FabricException | IllegalStateException e) {
                            LOG.debug("{} does not reach the coordinator", client, e);
                        }
                    }
                });
    }

    /** The close waits for recalls in progress, which may wait for the calling thread. */
    static void closeLater(ServerConnector.Connection connection) {
        Thread.ofVirtual().start(connection::close);
    }
}
