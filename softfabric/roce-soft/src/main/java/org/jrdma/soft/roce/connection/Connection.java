package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection, from the connect request to the end of the time-wait state. Confined to
 * the thread that drives the engine.
 *
 * <p>Methods that are not valid in the current state return false and have no effect. Events are
 * reported and most messages are sent before the state changes, so that a method that throws {@link
 * OutOfMemoryError} can be called again.
 */
public final class Connection extends TimedExchange {

    /**
     * The assumed maximum lifetime of a packet: 4.096 us times 2 to this power. The kernel assumes
     * the same value for IP networks.
     */
    public static final int PACKET_LIFETIME = 16;

    /**
     * The time within which each connection manager must answer: 4.096 us times 2 to this power.
     */
    private static final int RESPONSE_TIMEOUT = 20;

    private static final int REPEATS = 15;

    /**
     * The maximum response timeout for the peer's confirmation of a reply (an exponent). With the
     * limit below, a reply is repeated for at most 8 seconds, even if the peer requests longer,
     * because the peer may not exist. A peer that exists repeats its request if the reply was lost.
     */
    private static final int REPLY_TIMEOUT = 18;

    private static final int REPLY_REPEATS = 7;

    private static final int HOP_LIMIT = 64;

    private final RoceGid remote;
    private final ConnectRequest request;
    private final boolean active;
    private final int sequence;
    private final ConnectionMessageSender messages;
    private final NegotiatedParameters negotiated;
    private ConnectionState state;
    private long remoteAdapter;
    private ConnectionEvent.@Nullable Receiver receiver;
    private @Nullable ConnectReply reply;
    private boolean endReported;

    private @Nullable PeerProbe probe;

    /** The key of this connection in the table of remote queue pairs; null if it is not known. */
    @Nullable Object queuePairKey;

    private Connection(
            ConnectionManager manager,
            int localId,
            int sequence,
            RoceGid remote,
            ConnectRequest request,
            boolean active) {
        super(manager, localId);
        this.remote = remote;
        this.request = request;
        this.active = active;
        this.sequence = sequence;
        this.messages = new ConnectionMessageSender(manager, remote, request, localId);
        this.negotiated = new NegotiatedParameters(request, active);
        if (active) {
            state = ConnectionState.REQUESTING;
        } else {
            state = ConnectionState.REQUESTED;
            remoteAdapter = request.adapter();
            messages.remoteId(request.localId());
        }
    }

    static Connection active(
            ConnectionManager manager,
            int localId,
            int sequence,
            RoceGid remote,
            ConnectOptions options,
            ConnectionEvent.Receiver receiver) {
        var request =
                options.request(
                        localId,
                        sequence,
                        manager.adapter(),
                        new RequestedPath(
                                manager.address(),
                                remote,
                                manager.mtu(),
                                0,
                                options.trafficClass(),
                                HOP_LIMIT,
                                0,
                                options.acknowledgeTimeout()),
                        RESPONSE_TIMEOUT,
                        REPEATS);
        var connection = new Connection(manager, localId, sequence, remote, request, true);
        connection.receiver(receiver);
        return connection;
    }

    static Connection passive(
            ConnectionManager manager,
            int localId,
            int sequence,
            RoceGid remote,
            ConnectRequest request) {
        return new Connection(manager, localId, sequence, remote, request, false);
    }

    void receiver(ConnectionEvent.Receiver newReceiver) {
        receiver = newReceiver;
    }

    /** Returns the address of the peer. */
    public RoceGid remote() {
        return remote;
    }

    /**
     * Returns the ID that the peer has assigned to the connection, or 0 until this side has
     * received it.
     */
    int remoteId() {
        return messages.remoteId();
    }

    ConnectionState state() {
        return state;
    }

    /** Returns the GUID of the remote device, or 0 if it is unknown. */
    long remoteAdapter() {
        return remoteAdapter;
    }

    /** Returns the connect request that this side has sent or received. */
    public ConnectRequest request() {
        return request;
    }

    /**
     * Returns the packet sequence number that this side expects in the first packet of the peer.
     */
    public int sequence() {
        return sequence;
    }

    /** Returns the parameters that both sides have announced so far. */
    public NegotiatedParameters negotiated() {
        return negotiated;
    }

    /** Returns true if this side has sent the connect request. */
    public boolean isActive() {
        return active;
    }

    // Methods that the program calls.

    void sendRequest() {
        messages.request();
        repeat(REPEATS, responseWait(request.peerResponseTimeout(), RESPONSE_TIMEOUT));
    }

    /**
     * Accepts the connect request.
     *
     * @param offer the parameters of this side's queue pair, whose sequence number is ignored
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reply(EndpointParameters offer, MemorySegment privateData) {
        if (state != ConnectionState.REQUESTED) {
            return false;
        }
        var message = messages.newReply(offer.from(sequence), privateData);
        messages.reply(message);
        negotiated.own(message.offer());
        reply = message;
        state = ConnectionState.REPLYING;
        repeat(
                Math.min(request.repeats(), REPLY_REPEATS),
                responseWait(request.ownResponseTimeout(), REPLY_TIMEOUT));
        return true;
    }

    /**
     * Confirms the peer's reply. The connection is then established, so this side's queue pair must
     * be ready to receive and send.
     */
    public boolean confirm() {
        if (state != ConnectionState.REPLIED) {
            return false;
        }
        messages.readyToUse();
        state = ConnectionState.ESTABLISHED;
        return true;
    }

    /**
     * Establishes the connection because a packet from the peer has arrived at the queue pair. The
     * packet proves that the peer has received the reply, even if its confirmation was lost.
     * Returns true if the connection is established.
     */
    public boolean establish() {
        ready();
        return state == ConnectionState.ESTABLISHED;
    }

    /**
     * Rejects the connection with the reason {@link RejectionReason#CONSUMER}, that is, by decision
     * of the program.
     */
    public boolean reject(MemorySegment privateData) {
        return reject(RejectionReason.CONSUMER, privateData);
    }

    /**
     * Rejects the connection.
     *
     * @param reason the code of the reason, see {@link RejectionReason}
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reject(int reason, MemorySegment privateData) {
        return switch (state) {
            case REQUESTED, REPLIED, REPLYING -> {
                sendRejection(reason, privateData);
                end();
                yield true;
            }
            default -> false;
        };
    }

    private void sendRejection(int reason, MemorySegment privateData) {
        var answered =
                switch (state) {
                    case REQUESTED -> AnsweredKind.REQUEST;
                    case REPLIED -> AnsweredKind.REPLY;
                    default -> AnsweredKind.OTHER;
                };
        messages.reject(answered, reason, privateData);
    }

    /** Sends a disconnect request, or replies to the disconnect request of the peer. */
    public boolean disconnect() {
        return switch (state) {
            case ESTABLISHED -> {
                state = ConnectionState.DISCONNECTING;
                repeat(request.repeats(), responseWait(ownTimeout(), RESPONSE_TIMEOUT));
                messages.disconnect(negotiated.peers());
                yield true;
            }
            case DISCONNECT_REQUESTED -> {
                messages.disconnected();
                enterTimeWait();
                yield true;
            }
            default -> false;
        };
    }

    /** Returns the exponent of the time within which the peer must answer a message. */
    private int ownTimeout() {
        return active ? request.peerResponseTimeout() : request.ownResponseTimeout();
    }

    /**
     * Closes this side: the program receives no further events. The peer is notified as the state
     * requires, by a rejection or a disconnect request.
     */
    public void close() {
        receiver = null;
        try {
            switch (state) {
                case REQUESTING -> {
                    sendRejection(RejectionReason.TIMEOUT, Message.NO_DATA);
                    end();
                }
                case REQUESTED, REPLIED, REPLYING -> reject(Message.NO_DATA);
                case ESTABLISHED, DISCONNECT_REQUESTED -> disconnect();
                case DISCONNECTING, TIME_WAIT, ENDED -> {}
            }
        } catch (VirtualMachineError e) {
            // Memory is too low to send the message. The loss is handled like one in the network:
            // the peer is notified when it repeats a message, or by a repeated disconnect request.
            if (state != ConnectionState.DISCONNECTING) {
                end();
            }
        }
    }

    /**
     * Probes the remote queue pair, because the peer has requested another connection for it. The
     * kernel would end this connection at once, but the request may be forged. If the queue pair of
     * this side receives no packet within a while, although it probes the remote queue pair, this
     * side disconnects.
     */
    void verify() {
        var own = negotiated.own();
        if (own == null || state != ConnectionState.ESTABLISHED || deadline() != NEVER) {
            return; // The timer runs if a verification has already started.
        }
        probe = manager.newProbe(own.queuePair());
        if (probe.isPossible()) {
            repeat(PeerProbe.REPEATS, PeerProbe.WAIT_NANOS);
            probe.send();
        } else {
            disconnect();
        }
    }

    private void continueVerification() {
        if (probe == null || probe.isAnswered()) {
            cancelTimer();
        } else if (startNextRepeat()) {
            probe.send();
        } else {
            disconnect();
        }
    }

    // Methods that handle messages from the peer.

    void requestRepeated(ConnectRequest repeated) {
        switch (state) {
            case REQUESTED -> messages.acknowledgeReceipt(AnsweredKind.REQUEST);
            case REPLYING -> {
                if (reply != null) {
                    messages.reply(reply);
                }
            }
            case TIME_WAIT -> messages.rejectStale(repeated);
            default -> {}
        }
    }

    void replied(ConnectReply received) {
        var message = received.forTransport(request.transport() == ConnectRequest.EXTENDED);
        if (state == ConnectionState.REQUESTING) {
            messages.remoteId(message.localId());
            if (message.offer().queuePair() == 0) {
                rejectReply();
                return;
            }
            negotiated.replied(message);
            remoteAdapter = message.adapter();
            manager.register(this);
            report(new ConnectionEvent.Replied(message));
            state = ConnectionState.REPLIED;
            cancelTimer();
        } else if (active && message.localId() == messages.remoteId()) {
            if (state == ConnectionState.REPLIED) {
                messages.acknowledgeReceipt(AnsweredKind.REPLY);
            } else if (state == ConnectionState.ESTABLISHED) {
                messages.readyToUse(); // The first ReadyToUse was lost, so it is sent again.
            }
        }
    }

    /** Rejects a reply that contains no queue pair number for the requested transport. */
    private void rejectReply() {
        messages.reject(AnsweredKind.REPLY, RejectionReason.INVALID_TRANSPORT, Message.NO_DATA);
        report(new ConnectionEvent.Rejected(RejectionReason.INVALID_TRANSPORT, Message.NO_DATA));
        end();
    }

    void ready() {
        if (state == ConnectionState.REPLYING) {
            report(new ConnectionEvent.Established());
            state = ConnectionState.ESTABLISHED;
            cancelTimer();
        }
    }

    void receipt(ReceiptAcknowledgement receipt) {
        postpone(nanosAtMost(receipt.serviceTimeout()));
    }

    void rejected(Rejection rejection) {
        var event = new ConnectionEvent.Rejected(rejection.reason(), rejection.privateData());
        switch (state) {
            case REQUESTING, REQUESTED, REPLYING, REPLIED -> {
                report(event);
                end();
            }
            // The peer no longer knows this connection.
            case ESTABLISHED, DISCONNECTING -> {
                report(event);
                endReported = true;
                enterTimeWait();
            }
            case DISCONNECT_REQUESTED, TIME_WAIT, ENDED -> {}
        }
    }

    void disconnectRequested(DisconnectRequest message) {
        var own = negotiated.own();
        if (own == null || message.remoteQueuePair() != own.queuePair()) {
            return;
        }
        ready(); // A peer that disconnects has received the reply; only its ReadyToUse was lost.
        switch (state) {
            case ESTABLISHED, DISCONNECTING -> {
                reportEnd();
                cancelTimer();
                state = ConnectionState.DISCONNECT_REQUESTED;
                if (receiver == null) {
                    disconnect();
                }
            }
            case TIME_WAIT -> messages.disconnected();
            default -> {}
        }
    }

    void disconnectReplied() {
        if (state == ConnectionState.DISCONNECTING
                || state == ConnectionState.DISCONNECT_REQUESTED) {
            disconnected();
        }
    }

    // Methods that handle timeouts and the end of the connection.

    @Override
    void expired() {
        switch (state) {
            case REQUESTING -> {
                if (startNextRepeat()) {
                    messages.request();
                } else {
                    report(new ConnectionEvent.Unreachable());
                    end();
                }
            }
            case REPLYING -> {
                if (reply != null && startNextRepeat()) {
                    messages.reply(reply);
                } else {
                    report(new ConnectionEvent.Unreachable());
                    end();
                }
            }
            case ESTABLISHED -> continueVerification();
            case DISCONNECTING -> {
                if (startNextRepeat()) {
                    messages.disconnect(negotiated.peers());
                } else {
                    disconnected();
                }
            }
            case TIME_WAIT -> {
                report(new ConnectionEvent.TimeWaitExited());
                end();
            }
            default -> throw new IllegalStateException("The timer expired in the state " + state);
        }
    }

    private void disconnected() {
        reportEnd();
        enterTimeWait();
    }

    private void enterTimeWait() {
        state = ConnectionState.TIME_WAIT;
        startTimer(nanos(PACKET_LIFETIME + 1));
    }

    private void reportEnd() {
        if (!endReported) {
            report(new ConnectionEvent.Disconnected());
            endReported = true;
        }
    }

    private void end() {
        state = ConnectionState.ENDED;
        manager.forget(this);
    }

    private void report(ConnectionEvent event) {
        if (receiver != null) {
            receiver.happened(event);
        }
    }
}
