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
 * The connection manager of one device. For one thread at a time, the one that drives the device's
 * engine.
 *
 * <p>A message counts only if it comes from the address of the peer that it speaks for: numbers can
 * be guessed or remembered, and a stray message ends nobody's connection.
 */
public final class ConnectionManager implements ManagementAgent {

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
    private static final int LOW_24_BITS = 0xff_ffff;

    private final Address address;
    private final long adapter;
    private final int mtu;
    private final ManagementTransport carrier;
    private final RandomGenerator random;

    private final Map<Integer, TimedExchange> byId = new HashMap<>();

    /** Those whose peer's number is known. */
    private final Map<PeerId, TimedExchange> byPeer = new HashMap<>();

    /** The last of each queue pair of a peer's. */
    private final Map<PeerQueuePair, Connection> byQueuePair = new HashMap<>();

    private final Map<Long, ServiceListener> services = new HashMap<>();

    private final TreeSet<TimedExchange> waiting =
            new TreeSet<>(
                    Comparator.<TimedExchange>comparingLong(TimedExchange::deadline)
                            .thenComparingInt(one -> one.localId));

    /** A number that a peer has given. Questions about datagrams have numbers of their own. */
    private record PeerId(Address peer, int id, boolean ofDatagrams) {}

    private record PeerQueuePair(Address peer, int number) {}

    /**
     * @param address the device's
     * @param adapter the device's GUID
     * @param mtu the greatest path MTU, as C counts them
     * @param random where numbers come from; peers should be unable to guess it
     */
    public ConnectionManager(
            Address address,
            long adapter,
            int mtu,
            ManagementTransport carrier,
            RandomGenerator random) {
        this.address = address;
        this.adapter = adapter;
        this.mtu = mtu;
        this.carrier = carrier;
        this.random = random;
    }

    public Address address() {
        return address;
    }

    /** The greatest path MTU, as C counts them. */
    public int mtu() {
        return mtu;
    }

    long adapter() {
        return adapter;
    }

    /** Takes requests for a service from now on. */
    public void listen(long serviceId, ServiceListener service) {
        if (services.putIfAbsent(serviceId, service) != null) {
            throw new IllegalStateException("service %x is taken".formatted(serviceId));
        }
    }

    /** Takes no more requests for a service. */
    public void stopListening(long serviceId) {
        services.remove(serviceId);
    }

    /**
     * Asks for a connection.
     *
     * @param wanted the rest of what is asked for; its sequence number is given here
     */
    public Connection connect(
            Address remote, ConnectOptions wanted, ConnectionEvent.Receiver receiver) {
        var connection = Connection.toAsk(this, newId(), newSequence(), remote, wanted, receiver);
        byId.put(connection.localId, connection);
        connection.sendRequest();
        return connection;
    }

    /**
     * Asks where datagrams for a service go.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public SidrClient ask(
            Address remote,
            long serviceId,
            int partitionKey,
            MemorySegment privateData,
            SidrClient.Receiver receiver) {
        var client =
                new SidrClient(
                        this, newId(), remote, serviceId, partitionKey, privateData, receiver);
        byId.put(client.localId, client);
        client.ask();
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

    /** The number of connections and SIDR requests, including abandoned ones. */
    int size() {
        return byId.size();
    }

    long now() {
        return carrier.now();
    }

    void send(Address remote, Message message) {
        carrier.send(remote, message.encode());
    }

    void schedule(TimedExchange timed, long deadline) {
        waiting.remove(timed);
        timed.deadline(deadline);
        if (deadline != TimedExchange.NEVER) {
            waiting.add(timed);
        }
    }

    /** The peer's number is known. */
    void know(Connection connection) {
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
        client.wakeNoMore();
    }

    void forget(SidrServer server) {
        forget(server, new PeerId(server.remote(), server.requestId(), true));
    }

    private void forget(TimedExchange timed, PeerId peer) {
        byId.remove(timed.localId);
        byPeer.remove(peer, timed);
        timed.wakeNoMore();
    }

    @Override
    public long nextDeadline() {
        return waiting.isEmpty() ? TimedExchange.NEVER : waiting.first().deadline();
    }

    @Override
    public void expire(long now) {
        while (nextDeadline() <= now) {
            var due = waiting.first();
            due.wakeNoMore();
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
                        receipt.answered() == AnsweredMessage.REQUEST
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
                    // Whoever does not know a connection any more agrees to its end.
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

    /** By the number that it has here. */
    private @Nullable Connection find(Address source, int here) {
        return byId.get(here) instanceof Connection found && found.remote().equals(source)
                ? found
                : null;
    }

    /** By the numbers that it has here and there. */
    private @Nullable Connection find(Address source, int here, int there) {
        var found = find(source, here);
        return found != null && found.remoteId() == there ? found : null;
    }

    private void requested(Address source, ConnectRequest request) {
        if (request.localId() == 0) {
            return; // which stands for a number that is not known
        }
        var peer = new PeerId(source, request.localId(), false);
        if (byPeer.get(peer) instanceof Connection known) {
            known.requestedAgain(request);
            return;
        }
        var service = services.get(request.serviceId());
        if (service == null) {
            reject(source, request, RejectionReason.NO_LISTENER);
            return;
        }
        var reason = reasonAgainst(source, request, service);
        if (reason != 0) {
            reject(source, request, reason);
            return;
        }
        var former = findByQueuePair(source, request.offer().queuePair());
        if (former != null) {
            // The peer uses its queue pair anew, so it has forgotten the connection that it was of.
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
        var connection = Connection.toAnswer(this, newId(), newSequence(), source, request);
        var receiver =
                service.requested(
                        connection, header, request.privateData().asSlice(PrivateDataHeader.BYTES));
        if (receiver != null) {
            byId.put(connection.localId, connection);
            know(connection);
            connection.receiver(receiver);
        }
    }

    /** Why a service cannot grant a request; 0 if it can. */
    private int reasonAgainst(Address source, ConnectRequest request, ServiceListener service) {
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
                        AnsweredMessage.REQUEST,
                        reason,
                        NOTHING));
    }

    /** A connection with a queue pair of a peer's that has not ended. */
    private @Nullable Connection findByQueuePair(Address peer, int queuePair) {
        var last = byQueuePair.get(new PeerQueuePair(peer, queuePair));
        return last != null && last.holdsQueuePair() ? last : null;
    }

    private void replied(Address source, ConnectReply reply) {
        var found = find(source, reply.remoteId());
        if (found == null || reply.localId() == 0) {
            // Else the peer would repeat it for a minute, and its program wait. The kernel looks
            // for both numbers.
            send(
                    source,
                    new Rejection(
                            reply.transaction(),
                            /* localId= */ reply.remoteId(),
                            reply.localId(),
                            AnsweredMessage.REPLY,
                            RejectionReason.INVALID_COMMUNICATION_ID,
                            NOTHING));
            return;
        }
        var former =
                found.isRequesting() ? findByQueuePair(source, reply.offer().queuePair()) : null;
        if (former != null) {
            // As for a request. The peer, told that, is asked again after a while.
            send(
                    source,
                    new Rejection(
                            reply.transaction(),
                            found.localId,
                            reply.localId(),
                            AnsweredMessage.REPLY,
                            RejectionReason.STALE_CONNECTION,
                            NOTHING));
            former.disconnect();
            return;
        }
        found.replied(reply);
    }

    private void rejected(Address source, Rejection rejection) {
        Connection found;
        if (rejection.reason() == RejectionReason.TIMEOUT) {
            // From one who has asked in vain, and may not know this side's number.
            found =
                    byPeer.get(new PeerId(source, rejection.localId(), false))
                                    instanceof Connection known
                            ? known
                            : null;
        } else if (rejection.answered() == AnsweredMessage.REQUEST) {
            found = find(source, rejection.remoteId());
            if (found != null && !found.isRequesting()) {
                return; // old: the request has been granted since
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

    private void asked(Address source, SidrRequest request) {
        var peer = new PeerId(source, request.requestId(), true);
        if (byPeer.get(peer) instanceof SidrServer known) {
            known.requestedAgain();
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
