package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.random.RandomGenerator;
import org.jrdma.soft.roce.engine.ManagementAgent;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of one device. Confined to the thread that drives the engine of the
 * device.
 *
 * <p>A message changes a connection or SIDR exchange only if it comes from the address of the peer
 * and has the expected IDs; the package description lists them.
 */
public final class ConnectionManager implements ManagementAgent {

    private static final int LOW_24_BITS = 0xff_ffff;

    private final RoceGid address;
    private final long adapter;
    private final int mtu;
    private final ConnectionManagerDeviceServices device;
    private final RandomGenerator random;

    /** The connections and SIDR exchanges by local ID. */
    private final Map<Integer, TimedExchange> byId = new HashMap<>();

    /** The connections and SIDR exchanges whose remote ID is known, by peer and remote ID. */
    private final Map<PeerId, TimedExchange> byPeer = new HashMap<>();

    /** The most recent connection to each queue pair of each peer. */
    private final Map<PeerQueuePair, Connection> byQueuePair = new HashMap<>();

    private final ExchangeTimers timers = new ExchangeTimers(byId.values());

    /** The listeners by service ID. */
    private final Map<Long, ServiceListener> services = new HashMap<>();

    /**
     * An ID that a peer has assigned to a connection or a SIDR request. A connection and a SIDR
     * request may have the same ID, because the two kinds of ID are independent.
     */
    private record PeerId(RoceGid peer, int id, boolean sidr) {}

    private record PeerQueuePair(RoceGid peer, long adapter, int number) {}

    /**
     * @param address the address of the device
     * @param adapter the GUID of the device
     * @param mtu the code of the maximum path MTU, as in {@code enum ibv_mtu}
     * @param random the random generator for IDs and sequence numbers, which must be unpredictable
     *     to peers
     */
    public ConnectionManager(
            RoceGid address,
            long adapter,
            int mtu,
            ConnectionManagerDeviceServices device,
            RandomGenerator random) {
        this.address = address;
        this.adapter = adapter;
        this.mtu = mtu;
        this.device = device;
        this.random = random;
    }

    public RoceGid address() {
        return address;
    }

    /** Returns the code of the maximum path MTU, as in {@code enum ibv_mtu}. */
    public int mtu() {
        return mtu;
    }

    long adapter() {
        return adapter;
    }

    /**
     * Registers the listener for a service ID.
     *
     * @throws IllegalStateException if the service ID already has a listener
     */
    public void listen(long serviceId, ServiceListener service) {
        if (services.putIfAbsent(serviceId, service) != null) {
            throw new IllegalStateException(
                    "The service ID 0x%x already has a listener.".formatted(serviceId));
        }
    }

    /** Removes the listener for a service ID. */
    public void stopListening(long serviceId) {
        services.remove(serviceId);
    }

    /**
     * Sends a connect request.
     *
     * @param options the options; the sequence number in the offer is replaced by a random one
     */
    public Connection connect(
            RoceGid remote, ConnectOptions options, ConnectionEvent.Receiver receiver) {
        var connection = Connection.active(this, newId(), newSequence(), remote, options, receiver);
        start(connection, connection::sendRequest);
        return connection;
    }

    /**
     * Sends a SIDR request, which asks a peer for the queue pair of a datagram service.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public SidrClient resolve(
            RoceGid remote,
            long serviceId,
            int partitionKey,
            MemorySegment privateData,
            SidrClient.Receiver receiver) {
        var client =
                new SidrClient(
                        this, newId(), remote, serviceId, partitionKey, privateData, receiver);
        start(client, client::sendRequest);
        return client;
    }

    /**
     * Adds an exchange to the tables and sends its request. If sending fails, the exchange is
     * removed again.
     */
    private void start(TimedExchange exchange, Runnable request) {
        var started = false;
        try {
            byId.put(exchange.localKey, exchange);
            request.run();
            started = true;
        } finally {
            if (!started) {
                forget(exchange);
            }
        }
    }

    private int newId() {
        int id;
        do {
            id = random.nextInt();
        } while (id == 0 || byId.containsKey(id));
        return id;
    }

    private int newSequence() {
        return random.nextInt() & LOW_24_BITS;
    }

    /**
     * Returns the number of connections and SIDR exchanges that this connection manager tracks,
     * including those that the program has closed.
     */
    int size() {
        return byId.size();
    }

    long now() {
        return device.now();
    }

    void send(RoceGid remote, Message message) {
        device.send(remote, message.encode());
    }

    PeerProbe newProbe(int queuePair) {
        return new PeerProbe(device, queuePair);
    }

    /** Sets the deadline of an exchange; {@link TimedExchange#NEVER} stops its timer. */
    void schedule(TimedExchange timed, long deadline) {
        timers.schedule(timed, deadline, device.now());
    }

    /**
     * Registers a connection under its remote ID and, if the peer has announced it, under the queue
     * pair of the peer.
     */
    void register(Connection connection) {
        var id = new PeerId(connection.remote(), connection.remoteId(), false);
        connection.peerKey = id;
        byPeer.put(id, connection);
        var peers = connection.negotiated().peers();
        if (peers != null) {
            var queuePair =
                    new PeerQueuePair(
                            connection.remote(), connection.remoteAdapter(), peers.queuePair());
            connection.queuePairKey = queuePair;
            byQueuePair.put(queuePair, connection);
        }
    }

    void forget(TimedExchange exchange) {
        byId.remove(exchange.localKey);
        byPeer.remove(exchange.peerKey, exchange);
        if (exchange instanceof Connection connection) {
            byQueuePair.remove(connection.queuePairKey, connection);
        }
        exchange.cancelTimer();
    }

    @Override
    public long nextDeadline() {
        return timers.nextDeadline();
    }

    @Override
    public void expire(long now) {
        timers.expire(now);
    }

    @Override
    public void received(RoceGid source, MemorySegment datagram) {
        Message message;
        try {
            message = Message.decode(datagram);
        } catch (MalformedPacketException dropped) {
            return;
        }
        switch (message) {
            case ConnectRequest request -> requested(source, request);
            case ConnectReply reply -> replied(source, reply);
            case ReadyToUse ready -> {
                var found = find(source, ready.remoteId(), ready.localId());
                if (found != null) {
                    found.ready();
                }
            }
            case Rejection rejection -> rejected(source, rejection);
            case ReceiptAcknowledgement receipt -> {
                var found =
                        receipt.answered() == AnsweredKind.REQUEST
                                ? find(source, receipt.remoteId())
                                : find(source, receipt.remoteId(), receipt.localId());
                if (found != null && found.state().awaitsAnswerTo(receipt.answered())) {
                    found.receipt(receipt);
                }
            }
            case DisconnectRequest request -> {
                var found = find(source, request.remoteId(), request.localId());
                if (found != null) {
                    found.disconnectRequested(request);
                } else {
                    // This side has already forgotten the connection. The reply makes the peer stop
                    // repeating its disconnect request.
                    send(source, DisconnectReply.to(request));
                }
            }
            case DisconnectReply reply -> {
                var found = find(source, reply.remoteId(), reply.localId());
                if (found != null) {
                    found.disconnectReplied();
                }
            }
            case SidrRequest request -> asked(source, request);
            case SidrReply reply -> {
                if (byId.get(reply.requestId()) instanceof SidrClient client
                        && client.remote().equals(source)) {
                    client.answered(reply);
                }
            }
        }
    }

    /**
     * Returns the connection to the peer at {@code source} with the local ID {@code ownId}, or null
     * if there is none.
     */
    private @Nullable Connection find(RoceGid source, int ownId) {
        return byId.get(ownId) instanceof Connection found && found.remote().equals(source)
                ? found
                : null;
    }

    /**
     * Returns the connection to the peer at {@code source} with the given local and remote IDs, or
     * null if there is none.
     */
    private @Nullable Connection find(RoceGid source, int ownId, int peersId) {
        var found = find(source, ownId);
        return found != null && found.remoteId() == peersId ? found : null;
    }

    private void requested(RoceGid source, ConnectRequest request) {
        if (request.localId() == 0) {
            return; // An ID of 0 is unknown.
        }
        var peer = new PeerId(source, request.localId(), false);
        if (byPeer.get(peer) instanceof Connection known) {
            known.requestRepeated(request);
            return;
        }
        var service = services.get(request.serviceId());
        if (service == null) {
            reject(source, request, RejectionReason.NO_LISTENER);
            return;
        }
        var reason = rejectionReason(source, request, service);
        if (reason != 0) {
            reject(source, request, reason);
            return;
        }
        var former = findByQueuePair(source, request.adapter(), request.offer().queuePair());
        if (former != null) {
            // Either the peer has lost the earlier connection, or the request is forged.
            reject(source, request, RejectionReason.STALE_CONNECTION);
            former.verify();
            return;
        }
        PrivateDataHeader header;
        try {
            header = PrivateDataHeader.decode(request.privateData());
        } catch (MalformedPacketException e) {
            reject(source, request, RejectionReason.CONSUMER);
            return;
        }
        if (!header.source().equals(source) || !header.destination().equals(address)) {
            reject(source, request, RejectionReason.INVALID_GID);
            return;
        }
        var connection = Connection.passive(this, newId(), newSequence(), source, request);
        ConnectionEvent.Receiver receiver = null;
        try {
            // The connection is added first, because the program may accept it once it is reported.
            byId.put(connection.localKey, connection);
            register(connection);
            receiver =
                    service.requested(
                            connection,
                            header,
                            request.privateData().asSlice(PrivateDataHeader.BYTES));
        } finally {
            if (receiver == null) {
                forget(connection);
            } else {
                connection.receiver(receiver);
            }
        }
    }

    /**
     * Returns the code of the reason to reject a connect request, or 0 if its path and transport
     * match the service.
     */
    private int rejectionReason(RoceGid source, ConnectRequest request, ServiceListener service) {
        var path = request.path();
        if (!path.local().equals(source) || !path.remote().equals(address)) {
            return RejectionReason.INVALID_GID;
        }
        if (request.transport() != service.transport()) {
            return RejectionReason.INVALID_TRANSPORT;
        }
        return path.mtu() < 1 || path.mtu() > mtu ? RejectionReason.INVALID_MTU : 0;
    }

    private void reject(RoceGid source, ConnectRequest request, int reason) {
        send(
                source,
                new Rejection(
                        request.transaction(),
                        0,
                        request.localId(),
                        AnsweredKind.REQUEST,
                        reason,
                        Message.NO_DATA));
    }

    private void reject(RoceGid source, ConnectReply reply, int localId, int reason) {
        send(
                source,
                new Rejection(
                        reply.transaction(),
                        localId,
                        reply.localId(),
                        AnsweredKind.REPLY,
                        reason,
                        Message.NO_DATA));
    }

    /**
     * Returns the connection that uses a queue pair of a peer, or null if there is none or it has
     * ended.
     */
    private @Nullable Connection findByQueuePair(RoceGid peer, long adapter, int queuePair) {
        var last = byQueuePair.get(new PeerQueuePair(peer, adapter, queuePair));
        return last != null && last.state().holdsQueuePair() ? last : null;
    }

    private void replied(RoceGid source, ConnectReply reply) {
        var found = find(source, reply.remoteId());
        if (found == null || reply.localId() == 0) {
            // Without this rejection, the peer would repeat its reply for a minute while its
            // program waits. As in the kernel, both IDs must match.
            reject(source, reply, reply.remoteId(), RejectionReason.INVALID_COMMUNICATION_ID);
            return;
        }
        var former =
                found.state().awaitsAnswerTo(AnsweredKind.REQUEST)
                        ? findByQueuePair(source, reply.adapter(), reply.offer().queuePair())
                        : null;
        if (former != null && former != found) {
            // The peer can accept this side's request when this side repeats it.
            reject(source, reply, found.localId, RejectionReason.STALE_CONNECTION);
            former.verify();
            return;
        }
        found.replied(reply);
    }

    private void rejected(RoceGid source, Rejection rejection) {
        Connection found;
        if (rejection.reason() == RejectionReason.TIMEOUT) {
            // The peer received no reply, so it may not know the local ID of this side.
            found =
                    byPeer.get(new PeerId(source, rejection.localId(), false))
                                            instanceof Connection known
                                    && known.remoteAdapter() == rejection.adapter()
                                    && known.state().isUnconfirmed()
                            ? known
                            : null;
        } else if (rejection.answered() == AnsweredKind.REQUEST) {
            found = find(source, rejection.remoteId());
            if (found != null && !found.state().awaitsAnswerTo(AnsweredKind.REQUEST)) {
                // The rejection is out of date: the peer has accepted the request since then.
                return;
            }
        } else {
            found = find(source, rejection.remoteId(), rejection.localId());
        }
        if (found != null) {
            found.rejected(rejection);
        }
    }

    private void asked(RoceGid source, SidrRequest request) {
        var peer = new PeerId(source, request.requestId(), true);
        if (byPeer.get(peer) instanceof SidrServer known) {
            known.requestRepeated();
            return;
        }
        var server = new SidrServer(this, newId(), source, request);
        var service = services.get(request.serviceId());
        if (service == null) {
            send(source, server.reply(SidrReply.UNSUPPORTED));
            return;
        }
        PrivateDataHeader header;
        try {
            header = PrivateDataHeader.decode(request.privateData());
        } catch (MalformedPacketException e) {
            send(source, server.reply(SidrReply.REJECTED));
            return;
        }
        if (!header.source().equals(source) || !header.destination().equals(address)) {
            send(source, server.reply(SidrReply.REJECTED));
            return;
        }
        var reported = false;
        try {
            server.peerKey = peer;
            byId.put(server.localKey, server);
            byPeer.put(peer, server);
            reported =
                    service.asked(
                            server, header, request.privateData().asSlice(PrivateDataHeader.BYTES));
        } finally {
            if (!reported) {
                forget(server);
            }
        }
    }
}
