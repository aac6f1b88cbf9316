package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection, from the connect request to the end of the time-wait state. Confined to
 * the thread that drives the engine.
 *
 * <p>Methods that are not valid in the current state return false and have no effect.
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

    private static final int HOP_LIMIT = 64;

    private enum State {
        /** The connect request was sent, and the peer has not replied. */
        REQUESTING,
        /** A connect request was received, and the program has not accepted or rejected it. */
        REQUESTED,
        /** The reply was sent, and the peer has not confirmed it. */
        REPLYING,
        /** The reply was received, and the program has not confirmed it. */
        REPLIED,
        ESTABLISHED,
        /** A disconnect request was sent, and the peer has not replied. */
        DISCONNECTING,
        /** A disconnect request was received, and the program has not replied. */
        DISCONNECT_REQUESTED,
        TIME_WAIT,
        ENDED
    }

    private final Address remote;
    private final ConnectRequest request;
    private final boolean active;
    private final int sequence;
    private final ConnectionMessages messages;
    private final NegotiatedParameters negotiated;
    private State state;
    private ConnectionEvent.@Nullable Receiver receiver;
    private @Nullable ConnectReply reply;
    private boolean endReported;

    private Connection(
            ConnectionManager manager,
            int localId,
            int sequence,
            Address remote,
            ConnectRequest request,
            boolean active) {
        super(manager, localId);
        this.remote = remote;
        this.request = request;
        this.active = active;
        this.sequence = sequence;
        this.messages = new ConnectionMessages(manager, remote, request, localId);
        this.negotiated = new NegotiatedParameters(request, active);
        if (active) {
            state = State.REQUESTING;
        } else {
            state = State.REQUESTED;
            messages.remoteId(request.localId());
        }
    }

    static Connection active(
            ConnectionManager manager,
            int localId,
            int sequence,
            Address remote,
            ConnectOptions options,
            ConnectionEvent.Receiver receiver) {
        var request =
                new ConnectRequest(
                        Integer.toUnsignedLong(localId),
                        localId,
                        options.serviceId(),
                        manager.adapter(),
                        options.offer().from(sequence),
                        options.transport(),
                        options.retries(),
                        options.partitionKey(),
                        RESPONSE_TIMEOUT,
                        RESPONSE_TIMEOUT,
                        REPEATS,
                        new RequestedPath(
                                manager.address(),
                                remote,
                                manager.mtu(),
                                0,
                                options.trafficClass(),
                                HOP_LIMIT,
                                0,
                                options.acknowledgeTimeout()),
                        options.privateData());
        var connection = new Connection(manager, localId, sequence, remote, request, true);
        connection.receiver(receiver);
        return connection;
    }

    static Connection passive(
            ConnectionManager manager,
            int localId,
            int sequence,
            Address remote,
            ConnectRequest request) {
        return new Connection(manager, localId, sequence, remote, request, false);
    }

    void receiver(ConnectionEvent.Receiver newReceiver) {
        receiver = newReceiver;
    }

    /** Returns the address of the peer. */
    public Address remote() {
        return remote;
    }

    /**
     * Returns the ID that the peer has assigned to the connection, or 0 until this side has
     * received it.
     */
    int remoteId() {
        return messages.remoteId();
    }

    /** Returns the connect request that this side has sent or received. */
    public ConnectRequest request() {
        return request;
    }

    /**
     * Returns the packet sequence number that this side's queue pair expects in the first packet.
     */
    public int sequence() {
        return sequence;
    }

    /** Returns the parameters that both sides have announced so far. */
    public NegotiatedParameters negotiated() {
        return negotiated;
    }

    /**
     * Returns true unless the connection is in the time-wait state or has ended. Until then, a
     * connect request for the same remote queue pair is evidence that the peer has lost this
     * connection.
     */
    boolean holdsQueuePair() {
        return state != State.TIME_WAIT && state != State.ENDED;
    }

    /** Returns true if this side has sent the connect request. */
    public boolean isActive() {
        return active;
    }

    boolean isRequesting() {
        return state == State.REQUESTING;
    }

    // Actions of the program.

    void sendRequest() {
        messages.request();
        repeat(REPEATS, responseWait(request.peerResponseTimeout()));
    }

    /**
     * Returns the time in nanoseconds within which an answer must arrive: the response timeout and
     * two packet lifetimes.
     */
    private static long responseWait(int responseTimeout) {
        return nanosAtMost(responseTimeout) + 2 * nanos(PACKET_LIFETIME);
    }

    /**
     * Accepts the connect request.
     *
     * @param offer the parameters of this side's queue pair, whose sequence number is ignored
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reply(EndpointParameters offer, MemorySegment privateData) {
        if (state != State.REQUESTED) {
            return false;
        }
        var message = messages.newReply(offer.from(sequence), privateData);
        negotiated.own(message.offer());
        reply = message;
        state = State.REPLYING;
        messages.reply(message);
        repeat(request.repeats(), responseWait(request.ownResponseTimeout()));
        return true;
    }

    /**
     * Confirms the peer's reply. The connection is then established, so this side's queue pair must
     * be ready to receive and send.
     */
    public boolean confirm() {
        if (state != State.REPLIED) {
            return false;
        }
        state = State.ESTABLISHED;
        messages.readyToUse();
        return true;
    }

    /**
     * Establishes the connection because a packet from the peer has arrived at the queue pair. The
     * packet proves that the peer has received the reply, even if its confirmation was lost.
     * Returns true if the connection is established.
     */
    public boolean establish() {
        ready();
        return state == State.ESTABLISHED;
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
                state = State.DISCONNECTING;
                sendDisconnect();
                repeat(request.repeats(), responseWait(ownTimeout()));
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

    /**
     * Returns the exponent of the time within which the peer must answer a message of this side.
     */
    private int ownTimeout() {
        return active ? request.peerResponseTimeout() : request.ownResponseTimeout();
    }

    private void sendDisconnect() {
        var peers = negotiated.peers();
        messages.disconnect(peers == null ? 0 : peers.queuePair());
    }

    /**
     * Closes this side: the program receives no further events. The peer is notified as the state
     * requires, by a rejection or a disconnect request.
     */
    public void close() {
        receiver = null;
        switch (state) {
            case REQUESTING -> {
                sendRejection(RejectionReason.TIMEOUT, Message.NO_DATA);
                end();
            }
            case REQUESTED, REPLIED, REPLYING -> reject(Message.NO_DATA);
            case ESTABLISHED, DISCONNECT_REQUESTED -> disconnect();
            case DISCONNECTING, TIME_WAIT, ENDED -> {}
        }
    }

    // Messages from the peer.

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
        if (state == State.REQUESTING) {
            messages.remoteId(message.localId());
            if (message.offer().queuePair() == 0) {
                rejectReply();
                return;
            }
            negotiated.replied(message);
            state = State.REPLIED;
            manager.register(this);
            cancelTimer();
            report(new ConnectionEvent.Replied(message));
        } else if (active && message.localId() == messages.remoteId()) {
            if (state == State.REPLIED) {
                messages.acknowledgeReceipt(AnsweredKind.REPLY);
            } else if (state == State.ESTABLISHED) {
                messages.readyToUse(); // the first confirmation was lost
            }
        }
    }

    /** Rejects a reply that contains no queue pair number for the requested transport. */
    private void rejectReply() {
        state = State.REPLIED;
        reject(RejectionReason.INVALID_TRANSPORT, Message.NO_DATA);
        report(new ConnectionEvent.Rejected(RejectionReason.INVALID_TRANSPORT, Message.NO_DATA));
    }

    void ready() {
        if (state == State.REPLYING) {
            state = State.ESTABLISHED;
            cancelTimer();
            report(new ConnectionEvent.Established());
        }
    }

    void receipt(ReceiptAcknowledgement receipt) {
        if (state == State.REQUESTING || state == State.REPLYING) {
            postpone(nanosAtMost(receipt.serviceTimeout()));
        }
    }

    void rejected(Rejection rejection) {
        var event = new ConnectionEvent.Rejected(rejection.reason(), rejection.privateData());
        switch (state) {
            case REQUESTING, REQUESTED, REPLYING, REPLIED -> {
                end();
                report(event);
            }
            // The peer does not have this connection any more.
            case ESTABLISHED, DISCONNECTING -> {
                enterTimeWait();
                endReported = true;
                report(event);
            }
            case DISCONNECT_REQUESTED, TIME_WAIT, ENDED -> {}
        }
    }

    void disconnectRequested(DisconnectRequest message) {
        var own = negotiated.own();
        if (own == null || message.remoteQueuePair() != own.queuePair()) {
            return;
        }
        ready(); // a peer that disconnects has received the reply; its confirmation was lost
        switch (state) {
            case ESTABLISHED, DISCONNECTING -> {
                cancelTimer();
                state = State.DISCONNECT_REQUESTED;
                if (receiver == null) {
                    disconnect();
                } else {
                    reportEnd();
                }
            }
            case TIME_WAIT -> messages.disconnected();
            default -> {}
        }
    }

    void disconnectReplied() {
        if (state == State.DISCONNECTING || state == State.DISCONNECT_REQUESTED) {
            disconnected();
        }
    }

    // Timeouts and the end of the connection.

    @Override
    void expired() {
        switch (state) {
            case REQUESTING -> {
                if (startNextRepeat()) {
                    messages.request();
                } else {
                    end();
                    report(new ConnectionEvent.Unreachable());
                }
            }
            case REPLYING -> {
                if (reply != null && startNextRepeat()) {
                    messages.reply(reply);
                } else {
                    end();
                    report(new ConnectionEvent.Unreachable());
                }
            }
            case DISCONNECTING -> {
                if (startNextRepeat()) {
                    sendDisconnect();
                } else {
                    disconnected();
                }
            }
            case TIME_WAIT -> {
                end();
                report(new ConnectionEvent.TimeWaitExited());
            }
            default -> throw new IllegalStateException("The timer expired in the state " + state);
        }
    }

    private void disconnected() {
        enterTimeWait();
        reportEnd();
    }

    private void enterTimeWait() {
        state = State.TIME_WAIT;
        startTimer(nanos(PACKET_LIFETIME + 1));
    }

    private void reportEnd() {
        if (!endReported) {
            endReported = true;
            report(new ConnectionEvent.Disconnected());
        }
    }

    private void end() {
        state = State.ENDED;
        manager.forget(this);
    }

    private void report(ConnectionEvent event) {
        if (receiver != null) {
            receiver.happened(event);
        }
    }
}
