package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/** Sends the messages of one connection to its peer. */
final class ConnectionMessages {

    /**
     * How much time a program has for its answer each time the peer repeats its message: 4.096 us
     * times 2 to this. A confirmation lost after that delays the connection as much.
     */
    private static final int SERVICE_TIMEOUT = 22;

    private static final MemorySegment NO_DATA = MemorySegment.ofArray(new byte[0]);

    private final ConnectionManager manager;
    private final Address remote;
    private final ConnectRequest request;
    private final int localId;

    /** The peer's ID of the connection; 0 until it is known. */
    private int remoteId;

    ConnectionMessages(
            ConnectionManager manager, Address remote, ConnectRequest request, int localId) {
        this.manager = manager;
        this.remote = remote;
        this.request = request;
        this.localId = localId;
    }

    int remoteId() {
        return remoteId;
    }

    void remoteId(int id) {
        remoteId = id;
    }

    void request() {
        manager.send(remote, request);
    }

    /**
     * Makes a reply.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    ConnectReply newReply(EndpointParameters offer, MemorySegment privateData) {
        return new ConnectReply(
                request.transaction(),
                localId,
                remoteId,
                manager.adapter(),
                offer,
                request.transport() == ConnectRequest.EXTENDED,
                0,
                0,
                privateData);
    }

    void reply(ConnectReply reply) {
        manager.send(remote, reply);
    }

    void readyToUse() {
        manager.send(remote, new ReadyToUse(request.transaction(), localId, remoteId));
    }

    void acknowledgeReceipt(AnsweredMessage answered) {
        manager.send(
                remote,
                new ReceiptAcknowledgement(
                        request.transaction(), localId, remoteId, answered, SERVICE_TIMEOUT));
    }

    void reject(AnsweredMessage answered, int reason, MemorySegment privateData) {
        manager.send(
                remote,
                new Rejection(
                        request.transaction(),
                        localId,
                        remoteId,
                        answered,
                        reason,
                        reason == RejectionReason.TIMEOUT ? manager.adapter() : 0,
                        privateData));
    }

    /** Rejects a request that came again for a connection that has ended. */
    void rejectStale(ConnectRequest again) {
        manager.send(
                remote,
                new Rejection(
                        again.transaction(),
                        localId,
                        again.localId(),
                        AnsweredMessage.REQUEST,
                        RejectionReason.STALE_CONNECTION,
                        NO_DATA));
    }

    void disconnect(int remoteQueuePair) {
        manager.send(
                remote,
                new DisconnectRequest(request.transaction(), localId, remoteId, remoteQueuePair));
    }

    void disconnected() {
        manager.send(remote, new DisconnectReply(request.transaction(), localId, remoteId));
    }
}
