package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;

/** Sends the messages of one connection to its peer. */
final class ConnectionMessages {

    /**
     * The exponent of the service timeout in a receipt acknowledgement (MRA), in units of 4.096 us:
     * the time that this side requests for its program to answer. The message is sent each time the
     * peer repeats a request or a reply while the program has not answered. If the answer of the
     * program is then lost, the connection is delayed by this time.
     */
    private static final int SERVICE_TIMEOUT = 22;

    private final ConnectionManager manager;
    private final Address remote;
    private final ConnectRequest request;
    private final int localId;

    /** The ID that the peer has assigned to the connection; 0 while it is unknown. */
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
     * Creates a reply to the request.
     *
     * @param offer the parameters of this side's queue pair
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

    void acknowledgeReceipt(AnsweredKind answered) {
        manager.send(
                remote,
                new ReceiptAcknowledgement(
                        request.transaction(), localId, remoteId, answered, SERVICE_TIMEOUT));
    }

    void reject(AnsweredKind answered, int reason, MemorySegment privateData) {
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

    /** Rejects a repeated request for a connection that is in the time-wait state. */
    void rejectStale(ConnectRequest repeated) {
        manager.send(
                remote,
                new Rejection(
                        repeated.transaction(),
                        localId,
                        repeated.localId(),
                        AnsweredKind.REQUEST,
                        RejectionReason.STALE_CONNECTION,
                        Message.NO_DATA));
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
