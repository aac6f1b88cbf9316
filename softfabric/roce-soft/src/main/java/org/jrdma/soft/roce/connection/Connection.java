package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * One connection, from its request to the end of its time-wait, as one side sees it. For the thread
 * that drives the engine.
 *
 * <p>Steps answer false in a state that has no such step, and change nothing then.
 */
public final class Connection extends TimedExchange {

    /** How long packets live: 4.096 us times 2 to this, as for the kernel where IP routes. */
    public static final int PACKET_LIFETIME = 16;

    /** How long the connection managers of both sides have for an answer, likewise. */
    private static final int RESPONSE_TIMEOUT = 20;

    private static final int REPEATS = 15;

    /**
     * How much more time a program has for its answer each time that the peer asks, likewise. A
     * confirmation that is lost after that costs as much.
     */
    private static final int SERVICE_TIMEOUT = 22;

    private static final int HOP_LIMIT = 64;
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private enum State {
        /** Has asked, and waits for the reply. */
        ASKING,
        /** Was asked; the program is to answer. */
        ASKED,
        /** Has replied, and waits for the confirmation. */
        REPLYING,
        /** The reply has come; the program is to confirm. */
        REPLIED,
        ESTABLISHED,
        /** Wants to disconnect, and waits for the answer. */
        DISCONNECTING,
        /** The peer has disconnected; the program is to answer. */
        DISCONNECT_REQUESTED,
        TIME_WAIT,
        ENDED
    }

    private final Address remote;
    private final ConnectRequest request;
    private final boolean active;
    private final int sequence;
    private int remoteId;
    private State state;
    private ConnectionEvent.@Nullable Receiver receiver;
    private @Nullable EndpointParameters own;
    private @Nullable EndpointParameters peers;
    private @Nullable ConnectReply reply;
    private int acknowledgeTimeout;
    private boolean toldOfEnd;

    private Connection(
            ConnectionManager engine,
            int localId,
            int sequence,
            Address remote,
            ConnectRequest request,
            boolean active) {
        super(engine, localId);
        this.remote = remote;
        this.request = request;
        this.active = active;
        this.sequence = sequence;
        this.acknowledgeTimeout = request.path().acknowledgeTimeout();
        if (active) {
            state = State.ASKING;
            own = request.offer();
        } else {
            state = State.ASKED;
            peers = request.offer();
            remoteId = request.localId();
        }
    }

    static Connection toAsk(
            ConnectionManager engine,
            int localId,
            int sequence,
            Address remote,
            ConnectOptions wanted,
            ConnectionEvent.Receiver receiver) {
        var request =
                new ConnectRequest(
                        Integer.toUnsignedLong(localId),
                        localId,
                        wanted.serviceId(),
                        engine.adapter(),
                        wanted.offer().from(sequence),
                        wanted.transport(),
                        wanted.retries(),
                        wanted.partitionKey(),
                        RESPONSE_TIMEOUT,
                        RESPONSE_TIMEOUT,
                        REPEATS,
                        new RequestedPath(
                                engine.address(),
                                remote,
                                engine.mtu(),
                                0,
                                wanted.trafficClass(),
                                HOP_LIMIT,
                                0,
                                wanted.acknowledgeTimeout()),
                        wanted.privateData());
        var conversation = new Connection(engine, localId, sequence, remote, request, true);
        conversation.receiver(receiver);
        return conversation;
    }

    static Connection toAnswer(
            ConnectionManager engine,
            int localId,
            int sequence,
            Address remote,
            ConnectRequest request) {
        return new Connection(engine, localId, sequence, remote, request, false);
    }

    void receiver(ConnectionEvent.Receiver next) {
        receiver = next;
    }

    /** The peer's address. */
    public Address remote() {
        return remote;
    }

    /** The peer's number for it; 0 while it is not known. */
    int remoteId() {
        return remoteId;
    }

    /** What was asked for, by whichever side. */
    public ConnectRequest request() {
        return request;
    }

    /** The first packet sequence number that this side's queue pair expects. */
    public int sequence() {
        return sequence;
    }

    /** What the peer says of its queue pair; null while it has not. */
    public @Nullable EndpointParameters peers() {
        return peers;
    }

    /** How many READs and atomics this side's queue pair answers at a time. */
    public int responderResources() {
        if (own != null && (peers == null || !active)) {
            return own.responderResources();
        }
        return peers == null ? 0 : peers.initiatorDepth();
    }

    /** How many READs and atomics this side's queue pair may have under way. */
    public int initiatorDepth() {
        if (own != null && (peers == null || !active)) {
            return own.initiatorDepth();
        }
        return peers == null ? 0 : peers.responderResources();
    }

    /** How often this side's queue pair is to come again where there is no receive. */
    public int notReadyRetries() {
        return peers == null ? request.offer().notReadyRetries() : peers.notReadyRetries();
    }

    /** How long queue pairs wait for an acknowledgement: 4.096 us times 2 to this. */
    public int acknowledgeTimeout() {
        return acknowledgeTimeout;
    }

    /** Whether the peer's queue pair is in a connection that has not ended. */
    boolean holdsQueuePair() {
        return state != State.TIME_WAIT && state != State.ENDED;
    }

    /** Whether this side has asked. */
    public boolean isActive() {
        return active;
    }

    boolean asks() {
        return state == State.ASKING;
    }

    // ---- what this side's program does

    void ask() {
        engine.send(remote, request);
        repeat(REPEATS, responseWait(request.peerResponseTimeout()));
    }

    private static long responseWait(int responseTimeout) {
        return nanosAtMost(responseTimeout) + 2 * nanos(PACKET_LIFETIME);
    }

    /**
     * Accepts.
     *
     * @param offer its sequence number is not looked at
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reply(EndpointParameters offer, MemorySegment privateData) {
        if (state != State.ASKED) {
            return false;
        }
        var message =
                new ConnectReply(
                        request.transaction(),
                        localId,
                        remoteId,
                        engine.adapter(),
                        offer.from(sequence),
                        isExtended(),
                        0,
                        0,
                        privateData);
        own = message.offer();
        reply = message;
        state = State.REPLYING;
        engine.send(remote, message);
        repeat(request.repeats(), responseWait(request.ownResponseTimeout()));
        return true;
    }

    /** Tells the peer that its reply has come, and the queue pair is ready. */
    public boolean confirm() {
        if (state != State.REPLIED) {
            return false;
        }
        state = State.ESTABLISHED;
        sendReady();
        return true;
    }

    private void sendReady() {
        engine.send(remote, new ReadyToUse(request.transaction(), localId, remoteId));
    }

    /** Takes a packet of the peer's queue pair for its confirmation, which may be lost. */
    public boolean establish() {
        ready();
        return state == State.ESTABLISHED;
    }

    /** Refuses since the program does. */
    public boolean reject(MemorySegment privateData) {
        return reject(RejectionReason.CONSUMER, privateData);
    }

    /**
     * Refuses.
     *
     * @param reason a code of the specification, see {@link RejectionReason}
     * @throws IllegalArgumentException if the private data is too long
     */
    public boolean reject(int reason, MemorySegment privateData) {
        return switch (state) {
            case ASKED, REPLIED, REPLYING -> {
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
                    case ASKED -> AnsweredMessage.REQUEST;
                    case REPLIED -> AnsweredMessage.REPLY;
                    default -> AnsweredMessage.OTHER;
                };
        engine.send(
                remote,
                new Rejection(
                        request.transaction(),
                        localId,
                        remoteId,
                        answered,
                        reason,
                        reason == RejectionReason.TIMEOUT ? engine.adapter() : 0,
                        privateData));
    }

    /** Ends the connection, or answers the peer that has. */
    public boolean disconnect() {
        return switch (state) {
            case ESTABLISHED -> {
                state = State.DISCONNECTING;
                sendDisconnect();
                repeat(request.repeats(), responseWait(ownTimeout()));
                yield true;
            }
            case DISCONNECT_REQUESTED -> {
                sendDisconnected();
                waitOut();
                yield true;
            }
            default -> false;
        };
    }

    /** The one that the peer has for its answers. */
    private int ownTimeout() {
        return active ? request.peerResponseTimeout() : request.ownResponseTimeout();
    }

    private void sendDisconnect() {
        engine.send(
                remote,
                new DisconnectRequest(
                        request.transaction(),
                        localId,
                        remoteId,
                        peers == null ? 0 : peers.queuePair()));
    }

    private void sendDisconnected() {
        engine.send(remote, new DisconnectReply(request.transaction(), localId, remoteId));
    }

    /**
     * The program is done with it, and told of nothing more. What the peer is to know it is told,
     * again and again if need be.
     */
    public void close() {
        receiver = null;
        switch (state) {
            case ASKING -> {
                sendRejection(RejectionReason.TIMEOUT, NOTHING);
                end();
            }
            case ASKED, REPLIED, REPLYING -> reject(NOTHING);
            case ESTABLISHED, DISCONNECT_REQUESTED -> disconnect();
            case DISCONNECTING, TIME_WAIT, ENDED -> {}
        }
    }

    // ---- what comes from the peer

    void requestedAgain(ConnectRequest again) {
        switch (state) {
            case ASKED -> sendReceipt(AnsweredMessage.REQUEST);
            case REPLYING -> {
                if (reply != null) {
                    engine.send(remote, reply);
                }
            }
            case TIME_WAIT ->
                    engine.send(
                            remote,
                            new Rejection(
                                    again.transaction(),
                                    localId,
                                    again.localId(),
                                    AnsweredMessage.REQUEST,
                                    RejectionReason.STALE_CONNECTION,
                                    NOTHING));
            default -> {}
        }
    }

    private void sendReceipt(AnsweredMessage answered) {
        engine.send(
                remote,
                new ReceiptAcknowledgement(
                        request.transaction(), localId, remoteId, answered, SERVICE_TIMEOUT));
    }

    private boolean isExtended() {
        return request.transport() == ConnectRequest.EXTENDED;
    }

    void replied(ConnectReply told) {
        var message = told.to(isExtended());
        if (state == State.ASKING) {
            remoteId = message.localId();
            if (message.offer().queuePair() == 0) {
                refuseReply();
                return;
            }
            peers = message.offer();
            acknowledgeTimeout = delayed(acknowledgeTimeout, message.acknowledgeDelay());
            state = State.REPLIED;
            engine.know(this);
            wakeNoMore();
            tell(new ConnectionEvent.Replied(message));
        } else if (active && message.localId() == remoteId) {
            if (state == State.REPLIED) {
                sendReceipt(AnsweredMessage.REPLY);
            } else if (state == State.ESTABLISHED) {
                sendReady(); // that of before is lost
            }
        }
    }

    /** Its queue pair is of another kind, or there is none. */
    private void refuseReply() {
        state = State.REPLIED;
        reject(RejectionReason.INVALID_TRANSPORT, NOTHING);
        tell(new ConnectionEvent.Rejected(RejectionReason.INVALID_TRANSPORT, NOTHING));
    }

    /** With a peer's delay added, as far as powers of two can tell. */
    private static int delayed(int timeout, int delay) {
        var sum = Math.max(timeout, delay) + (Math.abs(timeout - delay) <= 1 ? 1 : 0);
        return Math.min(sum, 31);
    }

    void ready() {
        if (state == State.REPLYING) {
            state = State.ESTABLISHED;
            wakeNoMore();
            tell(new ConnectionEvent.Established());
        }
    }

    void receipt(ReceiptAcknowledgement receipt) {
        if (state == State.ASKING || state == State.REPLYING) {
            putOff(nanosAtMost(receipt.serviceTimeout()));
        }
    }

    void rejected(Rejection rejection) {
        var told = new ConnectionEvent.Rejected(rejection.reason(), rejection.privateData());
        switch (state) {
            case ASKING, ASKED, REPLYING, REPLIED -> {
                end();
                tell(told);
            }
            // The peer knows no such connection, whatever was agreed upon.
            case ESTABLISHED, DISCONNECTING -> {
                waitOut();
                toldOfEnd = true;
                tell(told);
            }
            case DISCONNECT_REQUESTED, TIME_WAIT, ENDED -> {}
        }
    }

    void disconnectRequested(DisconnectRequest message) {
        if (own == null || message.remoteQueuePair() != own.queuePair()) {
            return;
        }
        ready(); // whoever ends a connection has confirmed it: that is lost, or comes late
        switch (state) {
            case ESTABLISHED, DISCONNECTING -> {
                wakeNoMore();
                state = State.DISCONNECT_REQUESTED;
                if (receiver == null) {
                    disconnect();
                } else {
                    tellOfEnd();
                }
            }
            case TIME_WAIT -> sendDisconnected();
            default -> {}
        }
    }

    void disconnectReplied() {
        if (state == State.DISCONNECTING || state == State.DISCONNECT_REQUESTED) {
            ended();
        }
    }

    // ---- time, and the end

    @Override
    void expired() {
        switch (state) {
            case ASKING -> {
                if (repeatsAgain()) {
                    engine.send(remote, request);
                } else {
                    end();
                    tell(new ConnectionEvent.Unreachable());
                }
            }
            case REPLYING -> {
                if (reply != null && repeatsAgain()) {
                    engine.send(remote, reply);
                } else {
                    end();
                    tell(new ConnectionEvent.Unreachable());
                }
            }
            case DISCONNECTING -> {
                if (repeatsAgain()) {
                    sendDisconnect();
                } else {
                    ended();
                }
            }
            case TIME_WAIT -> {
                end();
                tell(new ConnectionEvent.TimeWaitExited());
            }
            default -> throw new IllegalStateException("nothing is timed in " + state);
        }
    }

    private void ended() {
        waitOut();
        tellOfEnd();
    }

    private void waitOut() {
        state = State.TIME_WAIT;
        wakeIn(nanos(PACKET_LIFETIME + 1));
    }

    private void tellOfEnd() {
        if (!toldOfEnd) {
            toldOfEnd = true;
            tell(new ConnectionEvent.Disconnected());
        }
    }

    private void end() {
        state = State.ENDED;
        engine.forget(this);
    }

    private void tell(ConnectionEvent event) {
        if (receiver != null) {
            receiver.happened(event);
        }
    }
}
