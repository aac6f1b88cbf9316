package org.jrdma.volume.client;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.Failure;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.PeerConnection;
import org.jrdma.volume.protocol.RedirectReply;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards the requests of clients that do not reach the coordinator, and the requests of the
 * coordinator to these clients (file redirection).
 *
 * <p>Each connection of a client has a connection to the coordinator of its own. So the coordinator
 * distinguishes the clients, and the connections of one client, as without the relay. Safe for use
 * by multiple threads.
 */
public final class RequestRelay implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(RequestRelay.class);

    /** Longer than the coordinator waits for the reply to a request of its own. */
    private static final Duration RECALL_TIMEOUT = Duration.ofMinutes(5);

    private final String name;
    private final ServerConnector connector;
    private final ClientSession own;
    private final Duration callTimeout;
    private final Map<PeerConnection, Forwarding> clients = new ConcurrentHashMap<>();

    /** The requests of one connection of a client. */
    private final class Forwarding {

        private final PeerConnection client;
        private final RedirectReply target;
        private ServerConnector.@Nullable Connection coordinator;
        private boolean isEnded;

        Forwarding(PeerConnection client, RedirectReply target) {
            this.client = client;
            this.target = target;
        }

        ByteBuffer forward(ByteBuffer request) throws FabricException {
            return connection().call(request, callTimeout);
        }

        private synchronized ServerConnector.Connection connection() throws FabricException {
            if (isEnded) {
                throw new VolumeException("The connection of the client has ended");
            }
            if (coordinator == null) {
                coordinator =
                        connector.connect(
                                target.coordinator(), this::callClient, own.connectTimeout());
                LOG.info(
                        "{} forwards the requests of a client to the coordinator over {}",
                        name,
                        coordinator.transport());
            }
            return coordinator;
        }

        private ByteBuffer callClient(ByteBuffer request) {
            try {
                return client.call(request, RECALL_TIMEOUT);
            } catch (FabricException e) {
                return ByteBuffer.wrap(
                        ReplyEncoding.failure(
                                new VolumeException(String.valueOf(e.getMessage()), e)));
            }
        }

        synchronized void end() {
            isEnded = true;
            if (coordinator != null) {
                CoordinatorConnector.closeLater(coordinator);
            }
        }
    }

    /**
     * @param name the name of this server
     * @param own the session of this server, which knows the coordinator
     */
    RequestRelay(String name, ServerConnector connector, ClientSession own, Duration callTimeout) {
        this.name = name;
        this.connector = connector;
        this.own = own;
        this.callTimeout = callTimeout;
    }

    /** Starts to forward the requests of a client. Returns the reply for the client. */
    public ByteBuffer start(PeerConnection client) {
        var coordinator = own.state().coordinator().server();
        if (coordinator.isEmpty()) {
            return ByteBuffer.wrap(
                    ReplyEncoding.failure(
                            new VolumeException(
                                    Failure.NOT_COORDINATOR,
                                    "This server is not connected to a coordinator")));
        }
        var target = new RedirectReply(name, coordinator);
        var _ = clients.putIfAbsent(client, new Forwarding(client, target));
        var reply = ReplyEncoding.encoder();
        target.encode(reply);
        return ByteBuffer.wrap(reply.bytes());
    }

    /**
     * Forwards a request. Returns an empty result if the client has not requested a redirection.
     *
     * @throws FabricException if the coordinator cannot be reached, or does not reply in time. It
     *     may have executed the request
     */
    public Optional<ByteBuffer> forward(PeerConnection client, ByteBuffer request)
            throws FabricException {
        var forwarding = clients.get(client);
        return forwarding == null ? Optional.empty() : Optional.of(forwarding.forward(request));
    }

    /** Ends the redirection of a client whose connection has ended. */
    public void end(PeerConnection client) {
        var forwarding = clients.remove(client);
        if (forwarding != null) {
            forwarding.end();
        }
    }

    /** Ends all redirections. */
    @Override
    public void close() {
        clients.keySet().forEach(this::end);
    }
}
