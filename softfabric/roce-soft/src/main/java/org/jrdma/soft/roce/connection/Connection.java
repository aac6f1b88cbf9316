package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * One side of a connection, from the connect request to the end of the time-wait state. Not
 * thread-safe: only the thread that currently drives the engine calls this class, and it holds the
 * lock of the engine's port.
 *
 * <p>A method that returns a {@code boolean} for an action of the program returns false and changes
 * nothing if the action is not valid in the current state.
 */
public final class Connection extends TimedExchange {

    /**
     * The exponent of the packet lifetime, in units of 4.096 us. The kernel assumes the same value
     * for IP networks.
     */
    public static final int PACKET_LIFETIME = 16;

    /**
     * The exponent of the time within which either connection manager must answer a message, in
     * units of 4.096 us.
     */
    private static final int RESPONSE_TIMEOUT = 20;

    /** The number of repetitions of a message that the peer does not answer. */
    private static final int REPEATS = 15;

    private static final int HOP_LIMIT = 64;

    private enum State {
        /** This side has sent the request and waits for the reply. */
        REQUESTING,
        /** This side has received the request. The program must accept or reject it. */
        REQUESTED,
        /** This side has sent the reply and waits for the confirmation. */
        REPLYING,
        /** This side has received the reply. The program must confirm or reject it. */
        REPLIED,
        ESTABLISHED,
        /** This side has sent a disconnect request and waits for the disconnect reply. */
        DISCONNECTING,
        /**
         * This side has received a disconnect request. The program must disconnect too, which sends
         * the disconnect reply.
         */
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

    /** The reply that this side has sent; null if it has sent none. */
    private @Nullable ConnectReply reply;

    /** True after the end of the connection was reported to the program. */
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

    /** The address of the peer. */
    public Address remote() {
        return remote;
    }

    /** The ID that the peer has assigned to the connection; 0 while it is unknown. */
    int remoteId() {
        return messages.remoteId();
    }

    /** The request that this side has sent or received. */
    public ConnectRequest request() {
        return request;
    }

    /** The first packet sequence number that the queue pair of this side expects. */
    public int sequence() {
        return sequence;
    }

    /** The parameters that both sides have exchanged so far. */
    public NegotiatedParameters negotiated() {
        return negotiated;
    }

    /**
     * Returns true while this connection uses the queue pair of the peer, so that the peer cannot
     * use it for another connection.
     */
    boolean holdsQueuePair() {
        return state != State.TIME_WAIT && state != State.ENDED;
    }

    /** Returns true if this side has sent the request. */
    public boolean isActive() {
        return active;
    }

    boolean isRequesting() {
        return state == State.REQUESTING;
    }

    // ---- actions of the program

    void sendRequest() {
        messages.request();
        repeat(REPEATS, responseWait(request.peerResponseTimeout()));
    }

    /**
     * Returns the time to wait for an answer of the peer, in nanoseconds: the response timeout and
     * two packet lifetimes.
     */
    private static long responseWait(int responseTimeout) {
        return nanosAtMost(responseTimeout) + 2 * nanos(PACKET_LIFETIME);
    }

    /**
     * Accepts the request of the peer.
     *
     * @param offer the parameters of this side's queue pair; the sequence number is ignored
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

    /** Confirms the reply of the peer when the queue pair of this side is ready. */
    public boolean confirm() {
        if (state != State.REPLIED) {
            return false;
        }
        state = State.ESTABLISHED;
        messages.readyToUse();
        return true;
    }

    /**
     * Establishes the connection because the queue pair has received a packet. The packet proves
     * that the peer is ready, even if its confirmation was lost.
     *
     * @return true if the connection is established
     */
    public boolean establish() {
        ready();
        return state == State.ESTABLISHED;
    }

    /**
     * Rejects the request or the reply of the peer with the reason {@link
     * RejectionReason#CONSUMER}.
     *
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reject(MemorySegment privateData) {
        return reject(RejectionReason.CONSUMER, privateData);
    }

    /**
     * Rejects the request or the reply of the peer.
     *
     * @param reason a code of {@link RejectionReason}
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

    /** Disconnects, or answers the disconnect request of the peer. */
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

    /** The exponent of the time within which the peer must answer a message of this side. */
    private int ownTimeout() {
        return active ? request.peerResponseTimeout() : request.ownResponseTimeout();
    }

    private void sendDisconnect() {
        var peers = negotiated.peers();
        messages.disconnect(peers == null ? 0 : peers.queuePair());
    }

    /**
     * Ends the connection in any state, because the program has destroyed its identifier. The
     * program receives no further events. The peer is notified by a rejection or, if the connection
     * is established, by a disconnect request, which is repeated until the peer answers.
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

    // ---- messages of the peer

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
                // The peer repeats its reply because the first confirmation was lost.
                messages.readyToUse();
            }
        }
    }

    /** Rejects a reply that does not contain a queue pair of the requested transport. */
    private void rejectReply() {
        state = State.REPLIED;
        reject(RejectionReason.INVALID_TRANSPORT, Message.NO_DATA);
        report(new ConnectionEvent.Rejected(RejectionReason.INVALID_TRANSPORT, Message.NO_DATA));
    }

    /** Handles the confirmation of the peer. */
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
            // The peer no longer has this connection.
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
        // A peer that disconnects has confirmed the reply, even if the confirmation was lost or is
        // late.
        ready();
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

    // ---- timeouts and the end

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

    /** Reports the end of the connection, unless it was reported before. */
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
