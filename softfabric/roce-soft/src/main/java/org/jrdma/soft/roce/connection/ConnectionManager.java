package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.random.RandomGenerator;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.ManagementAgent;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of one device, which handles the management datagrams that the device
 * receives. Not thread-safe: only the thread that currently drives the engine calls this class, and
 * it holds the lock of the device's port.
 *
 * <p>A message is ignored unless it comes from the address of the peer of the exchange to which its
 * IDs belong. IDs alone are not sufficient, because another host could guess or remember them and
 * end a connection with a forged or late message.
 */
public final class ConnectionManager implements ManagementAgent {

    private static final int LOW_24_BITS = 0xff_ffff;

    private final Address address;
    private final long adapter;
    private final int mtu;
    private final ManagementTransport transport;
    private final RandomGenerator random;

    /** The exchanges by the ID that this side has assigned. */
    private final Map<Integer, TimedExchange> byId = new HashMap<>();

    /** The exchanges by the ID that the peer has assigned, if it is known. */
    private final Map<PeerId, TimedExchange> byPeer = new HashMap<>();

    /** The most recent connection of each queue pair of a peer. */
    private final Map<PeerQueuePair, Connection> byQueuePair = new HashMap<>();

    /** The listeners by service ID. */
    private final Map<Long, ServiceListener> services = new HashMap<>();

    /** The exchanges with a timer, in the order of their deadlines. */
    private final TreeSet<TimedExchange> waiting =
            new TreeSet<>(
                    Comparator.<TimedExchange>comparingLong(TimedExchange::deadline)
                            .thenComparingInt(exchange -> exchange.localId));

    /**
     * An ID that a peer has assigned.
     *
     * @param sidr true for the ID of a SIDR request, false for the ID of a connection, because the
     *     peer may use the same number for both
     */
    private record PeerId(Address peer, int id, boolean sidr) {}

    private record PeerQueuePair(Address peer, int number) {}

    /**
     * Creates a connection manager.
     *
     * @param address the address of the device
     * @param adapter the GUID of the device
     * @param mtu the maximum path MTU as an {@code enum ibv_mtu} code
     * @param random the random number generator for IDs and sequence numbers, which must be
     *     unpredictable to peers
     */
    public ConnectionManager(
            Address address,
            long adapter,
            int mtu,
            ManagementTransport transport,
            RandomGenerator random) {
        this.address = address;
        this.adapter = adapter;
        this.mtu = mtu;
        this.transport = transport;
        this.random = random;
    }

    public Address address() {
        return address;
    }

    /** The maximum path MTU as an {@code enum ibv_mtu} code. */
    public int mtu() {
        return mtu;
    }

    long adapter() {
        return adapter;
    }

    /**
     * Registers the listener of a service.
     *
     * @throws IllegalStateException if the service already has a listener
     */
    public void listen(long serviceId, ServiceListener service) {
        if (services.putIfAbsent(serviceId, service) != null) {
            throw new IllegalStateException(
                    "The service ID 0x%x already has a listener.".formatted(serviceId));
        }
    }

    /** Removes the listener of a service. */
    public void stopListening(long serviceId) {
        services.remove(serviceId);
    }

    /**
     * Sends a connect request to a peer.
     *
     * @param options the options; the sequence number of the offer is ignored and chosen by this
     *     method
     * @param receiver the listener for the events of the connection
     * @throws IllegalArgumentException if the private data is too long
     */
    public Connection connect(
            Address remote, ConnectOptions options, ConnectionEvent.Receiver receiver) {
        var connection = Connection.active(this, newId(), newSequence(), remote, options, receiver);
        byId.put(connection.localId, connection);
        connection.sendRequest();
        return connection;
    }

    /**
     * Sends a SIDR request to a peer: requests the queue pair of a datagram service.
     *
     * @param receiver the listener for the result
     * @throws IllegalArgumentException if the private data is too long
     */
    public SidrClient resolve(
            Address remote,
            long serviceId,
            int partitionKey,
            MemorySegment privateData,
            SidrClient.Receiver receiver) {
        var client =
                new SidrClient(
                        this, newId(), remote, serviceId, partitionKey, privateData, receiver);
        byId.put(client.localId, client);
        client.sendRequest();
        return client;
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
     * The number of connections and SIDR exchanges, including those that the program has closed and
     * that have not ended yet.
     */
    int size() {
        return byId.size();
    }

    long now() {
        return transport.now();
    }

    void send(Address remote, Message message) {
        transport.send(remote, message.encode());
    }

    /**
     * Sets the deadline of an exchange, or cancels its timer if the deadline is {@link
     * TimedExchange#NEVER}.
     */
    void schedule(TimedExchange timed, long deadline) {
        waiting.remove(timed);
        timed.deadline(deadline);
        if (deadline != TimedExchange.NEVER) {
            waiting.add(timed);
        }
    }

    /**
     * Registers a connection under the ID that the peer has assigned and, if it is known, under the
     * queue pair of the peer.
     */
    void register(Connection connection) {
        byPeer.put(new PeerId(connection.remote(), connection.remoteId(), false), connection);
        var peers = connection.negotiated().peers();
        if (peers != null) {
            byQueuePair.put(new PeerQueuePair(connection.remote(), peers.queuePair()), connection);
        }
    }

    void forget(Connection connection) {
        var peers = connection.negotiated().peers();
        if (peers != null) {
            byQueuePair.remove(
                    new PeerQueuePair(connection.remote(), peers.queuePair()), connection);
        }
        forget(connection, new PeerId(connection.remote(), connection.remoteId(), false));
    }

    void forget(SidrClient client) {
        byId.remove(client.localId);
        client.cancelTimer();
    }

    void forget(SidrServer server) {
        forget(server, new PeerId(server.remote(), server.requestId(), true));
    }

    private void forget(TimedExchange timed, PeerId peer) {
        byId.remove(timed.localId);
        byPeer.remove(peer, timed);
        timed.cancelTimer();
    }

    @Override
    public long nextDeadline() {
        return waiting.isEmpty() ? TimedExchange.NEVER : waiting.first().deadline();
    }

    @Override
    public void expire(long now) {
        while (nextDeadline() <= now) {
            var due = waiting.first();
            due.cancelTimer();
            due.expired();
        }
    }

    @Override
    public void received(Address source, MemorySegment datagram) {
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
                if (found != null) {
                    found.receipt(receipt);
                }
            }
            case DisconnectRequest request -> {
                var found = find(source, request.remoteId(), request.localId());
                if (found != null) {
                    found.disconnectRequested(request);
                } else {
                    // The connection has already ended on this side. With this reply, the peer
                    // stops repeating its request.
                    send(source, DisconnectReply.to(request));
                }
            }
            case DisconnectReply reply -> {
                var found = find(source, reply.remoteId(), reply.localId());
                if (found != null) {
                    found.disconnectReplied();
                }
            }
            case SidrRequest request -> sidrRequested(source, request);
            case SidrReply reply -> {
                if (byId.get(reply.requestId()) instanceof SidrClient client
                        && client.remote().equals(source)) {
                    client.answered(reply);
                }
            }
        }
    }

    /** Returns the connection with a local ID, or null if there is none with this peer. */
    private @Nullable Connection find(Address source, int ownId) {
        return byId.get(ownId) instanceof Connection found && found.remote().equals(source)
                ? found
                : null;
    }

    /**
     * Returns the connection with a local and a remote ID, or null if there is none with this peer.
     */
    private @Nullable Connection find(Address source, int ownId, int peersId) {
        var found = find(source, ownId);
        return found != null && found.remoteId() == peersId ? found : null;
    }

    private void requested(Address source, ConnectRequest request) {
        if (request.localId() == 0) {
            return; // 0 is not a valid ID: it represents an unknown ID
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
        var former = findByQueuePair(source, request.offer().queuePair());
        if (former != null) {
            // The peer uses the queue pair for a new connection, so the earlier connection has
            // ended on its side.
            reject(source, request, RejectionReason.STALE_CONNECTION);
            former.disconnect();
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
        var receiver =
                service.requested(
                        connection, header, request.privateData().asSlice(PrivateDataHeader.BYTES));
        if (receiver != null) {
            byId.put(connection.localId, connection);
            register(connection);
            connection.receiver(receiver);
        }
    }

    /** Returns the code of the reason to reject a request, or 0 if the service accepts it. */
    private int rejectionReason(Address source, ConnectRequest request, ServiceListener service) {
        var path = request.path();
        if (!path.local().equals(source) || !path.remote().equals(address)) {
            return RejectionReason.INVALID_GID;
        }
        if (request.transport() != service.transport()) {
            return RejectionReason.INVALID_TRANSPORT;
        }
        return path.mtu() < 1 || path.mtu() > mtu ? RejectionReason.INVALID_MTU : 0;
    }

    private void reject(Address source, ConnectRequest request, int reason) {
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

    private void reject(Address source, ConnectReply reply, int localId, int reason) {
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
     * Returns the connection that uses a queue pair of a peer and has not ended, or null if there
     * is none.
     */
    private @Nullable Connection findByQueuePair(Address peer, int queuePair) {
        var last = byQueuePair.get(new PeerQueuePair(peer, queuePair));
        return last != null && last.holdsQueuePair() ? last : null;
    }

    private void replied(Address source, ConnectReply reply) {
        var found = find(source, reply.remoteId());
        if (found == null || reply.localId() == 0) {
            // Without this rejection, the peer would repeat its reply for a minute while its
            // program waits. The kernel also rejects a reply with an unknown ID of either side.
            reject(source, reply, reply.remoteId(), RejectionReason.INVALID_COMMUNICATION_ID);
            return;
        }
        var former =
                found.isRequesting() ? findByQueuePair(source, reply.offer().queuePair()) : null;
        if (former != null) {
            // The peer uses the queue pair for a new connection, as in requested(). This side
            // repeats its request later, and the peer replies again.
            reject(source, reply, found.localId, RejectionReason.STALE_CONNECTION);
            former.disconnect();
            return;
        }
        found.replied(reply);
    }

    private void rejected(Address source, Rejection rejection) {
        Connection found;
        if (rejection.reason() == RejectionReason.TIMEOUT) {
            // The peer has received no reply, and may not know the local ID of this side. Therefore
            // the connection is found by the ID of the peer.
            found =
                    byPeer.get(new PeerId(source, rejection.localId(), false))
                                    instanceof Connection known
                            ? known
                            : null;
        } else if (rejection.answered() == AnsweredKind.REQUEST) {
            found = find(source, rejection.remoteId());
            if (found != null && !found.isRequesting()) {
                return; // The rejection is late: the peer has accepted the request in the meantime.
            }
        } else if (rejection.localId() == 0) {
            found = find(source, rejection.remoteId());
        } else {
            found = find(source, rejection.remoteId(), rejection.localId());
        }
        if (found != null) {
            found.rejected(rejection);
        }
    }

    private void sidrRequested(Address source, SidrRequest request) {
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
        if (service.asked(server, header, request.privateData().asSlice(PrivateDataHeader.BYTES))) {
            byId.put(server.localId, server);
            byPeer.put(peer, server);
        }
    }
}
