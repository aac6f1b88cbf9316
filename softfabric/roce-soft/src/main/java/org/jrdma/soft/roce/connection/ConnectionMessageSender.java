package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/** Encodes and sends the messages of one connection to its peer. */
final class ConnectionMessageSender {

    /**
     * The time for which a receipt acknowledgement (MRA) asks the peer to wait for the program:
     * 4.096 us times 2 to this power. Each repeated message of the peer extends the time. If the
     * peer's ReadyToUse message (RTU) is lost, the connection is established later by up to this
     * time.
     */
    private static final int SERVICE_TIMEOUT = 22;

    private final ConnectionManager manager;
    private final RoceGid remote;
    private final ConnectRequest request;
    private final int localId;

    /**
     * The ID that the peer has assigned to the connection, or 0 until this side has received it.
     */
    private int remoteId;

    ConnectionMessageSender(
            ConnectionManager manager, RoceGid remote, ConnectRequest request, int localId) {
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
     * Creates the message that accepts the connect request.
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

    /** Rejects a repeated request for a connection that has ended. */
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

    void disconnect(@Nullable EndpointParameters peers) {
        var queuePair = peers == null ? 0 : peers.queuePair();
        manager.send(
                remote, new DisconnectRequest(request.transaction(), localId, remoteId, queuePair));
    }

    void disconnected() {
        manager.send(remote, new DisconnectReply(request.transaction(), localId, remoteId));
    }
}
