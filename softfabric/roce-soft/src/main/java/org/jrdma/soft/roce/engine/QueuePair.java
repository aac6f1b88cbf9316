package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair: its state and attributes, its work queues, and the requester and responder that
 * process them. Created by {@link Engine#newQueuePair}.
 *
 * <p>Any thread may post work; all other methods are confined to the thread that drives the engine.
 * The methods that change the state do not check whether the transition is valid; the caller must.
 */
public final class QueuePair extends Schedulable implements AccessIdentity {

    private final Engine engine;
    private final int number;
    private final Transport transport;
    private final ProtectionDomain domain;
    private final PeerRoute route;
    private final CompletionReporter completions;
    private final EventSink events;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final boolean receivesShared;
    private final @Nullable XrcDomainIdentity extendedDomain;
    private final Requester requester;
    private final Responder responder;

    /** The current state. Volatile because posting threads read it, too. */
    private volatile QueuePairState state = QueuePairState.RESET;

    private int access;
    private int queueKey;
    private int notReadyTimer;
    private @Nullable PathCongestionWindow path;
    private boolean established;
    private boolean responderFirst;
    private boolean drainReported;
    private boolean probeDue;

    private long packetsReceived;

    QueuePair(Engine engine, int number, QueuePairOptions options, WorkQueues queues) {
        this.engine = engine;
        this.number = number;
        this.transport = options.transport();
        this.domain = options.domain();
        this.route = new PeerRoute(engine.sender());
        this.completions = new CompletionReporter(engine.completion(), number, options, route);
        this.events = options.events();
        this.sends = queues.sends();
        this.receives = queues.receives();
        this.receivesShared = options.sharedReceives() != null;
        this.extendedDomain = options.extendedDomain();
        switch (transport) {
            case RELIABLE, EXTENDED -> {
                requester = new ReliableRequester(engine, this);
                responder = new ReliableResponder(engine, this);
            }
            case UNRELIABLE -> {
                requester = new UnreliableRequester(engine, this);
                responder = new UnreliableResponder(engine, this);
            }
            case DATAGRAM -> {
                requester = new DatagramRequester(engine, this);
                responder = new DatagramResponder(engine, this);
            }
            default -> throw new IllegalArgumentException("Unknown transport: " + transport);
        }
    }

    /** Returns the queue pair number (QPN). */
    @Override
    public int number() {
        return number;
    }

    public QueuePairState state() {
        return state;
    }

    /** Returns the send queue. */
    public SendQueue sends() {
        return sends;
    }

    /** Returns the receive queue, which other queue pairs may share. */
    public ReceiveQueue receives() {
        return receives;
    }

    /** Enters the RESET state: drops all work requests without completions. */
    public void reset() {
        state = QueuePairState.RESET;
        completions.reset();
        engine.cancelTimer(this);
        requester.reset();
        responder.reset();
        leavePath();
        if (!receivesShared) {
            receives.release(receives.tail());
        }
    }

    /**
     * Enters the INIT state.
     *
     * @param access the operations that the peer may perform, a combination of flags of {@code
     *     Access}
     * @param queueKey the queue key that incoming datagrams must carry
     */
    public void initialize(int access, int partitionKey, int queueKey) {
        this.access = access;
        route.partitionKey(partitionKey);
        this.queueKey = queueKey;
        state = QueuePairState.INITIALIZED;
    }

    /**
     * Changes the operations that the peer may perform.
     *
     * @param rights a combination of flags of {@code Access}
     */
    public void access(int rights) {
        access = rights;
    }

    /** Changes the queue key that incoming datagrams must carry. */
    public void queueKey(int key) {
        queueKey = key;
    }

    /** Changes the timer code that RNR NAKs of this queue pair carry. */
    public void notReadyTimer(int code) {
        notReadyTimer = code;
    }

    /**
     * Changes the address of the peer and the {@link ReceiveParameters#flow}. The caller must
     * ensure that no work is {@linkplain #isDraining() in flight}.
     */
    public void remote(RoceGid peer, int flow) {
        route.remote(peer, flow);
        enterPath();
    }

    /**
     * Changes the send parameters except the sequence number. The caller must ensure that no work
     * is {@linkplain #isDraining() in flight}.
     */
    public void change(SendParameters parameters) {
        requester.change(parameters);
    }

    /** Enters the RTR state, in which requests of the peer are executed. */
    public void readyToReceive(ReceiveParameters parameters) {
        route.connect(parameters);
        enterPath();
        notReadyTimer = parameters.notReadyTimer();
        established = false;
        responder.start(parameters);
        state = QueuePairState.READY_TO_RECEIVE;
    }

    private void enterPath() {
        leavePath();
        if (transport != Transport.DATAGRAM) {
            path = engine.enterPath(route.remote());
        }
    }

    private void leavePath() {
        if (path != null) {
            engine.leavePath(this, path);
            path = null;
        }
    }

    /**
     * Returns the path to the peer. Only a connected queue pair in the RTR state or later has a
     * path.
     *
     * @throws IllegalStateException if this queue pair has no path
     */
    PathCongestionWindow path() {
        if (path == null) {
            throw new IllegalStateException(
                    "Queue pair 0x%06x is not connected.".formatted(number));
        }
        return path;
    }

    /** Enters the RTS state from RTR. */
    public void readyToSend(SendParameters parameters) {
        established = true;
        requester.start(parameters);
        resumeSending();
    }

    /** Enters the RTS state from SQD or SQE. */
    public void resumeSending() {
        state = QueuePairState.READY_TO_SEND;
        engine.activate(this);
    }

    /**
     * Enters the SQD state: work requests that have started are completed, and no others are
     * started. The event {@link QueuePairEvent#SEND_QUEUE_DRAINED} follows when they are complete.
     */
    public void drain() {
        state = QueuePairState.SEND_QUEUE_DRAINED;
        drainReported = false;
        reportIfDrained();
    }

    /** Returns true if the state is SQD and a work request that has started is not complete. */
    public boolean isDraining() {
        return state == QueuePairState.SEND_QUEUE_DRAINED && !requester.isDrained();
    }

    /**
     * Enters the ERR state: completes all work requests with the status {@link
     * CompletionStatus#FLUSHED}.
     */
    public void fail() {
        var first = state != QueuePairState.ERROR;
        state = QueuePairState.ERROR;
        engine.cancelTimer(this);
        flush();
        if (receivesShared && first) {
            events.raised(QueuePairEvent.LAST_RECEIVE_REACHED);
        }
        engine.activate(this);
    }

    @Override
    void failOnce() {
        if (state != QueuePairState.ERROR) {
            fail();
        }
    }

    /**
     * Enters the ERR state if a completion was lost because a completion queue was full. Packets
     * that the peer has sent since the loss are not acknowledged.
     */
    private void failIfOverrun() {
        if (completions.isOverrun() && state != QueuePairState.ERROR) {
            fail();
        }
    }

    /**
     * Enters the SQE state, in which the send queue has failed, but an unreliable queue pair still
     * receives.
     */
    void failSending() {
        state = QueuePairState.SEND_QUEUE_ERROR;
        requester.flush();
    }

    @Override
    void flush() {
        if (state == QueuePairState.ERROR) {
            requester.flush();
            responder.flush();
        } else if (state == QueuePairState.SEND_QUEUE_ERROR) {
            requester.flush();
            failIfOverrun();
        }
    }

    /**
     * Returns true if the current state allows receiving, and the transport, partition and peer of
     * the packet match this queue pair.
     */
    boolean expects(IncomingPacket packet) {
        return state.receives()
                && packet.opCode().transport() == transport
                && matchesDirection(packet.opCode().operation())
                && route.matchesPartition(packet.partitionKey())
                && (transport == Transport.DATAGRAM || route.isFromPeer(packet.buffer()));
    }

    /**
     * Returns true if this queue pair may receive packets with the given operation. On an extended
     * connection, one queue pair only receives requests, and its peer only receives responses.
     */
    private boolean matchesDirection(Operation operation) {
        return transport != Transport.EXTENDED || operation.isRequest() == (extendedDomain != null);
    }

    void receive(IncomingPacket packet) {
        packetsReceived++;
        if (packet.opCode().operation().isRequest()) {
            if (!established) {
                established = true;
                events.raised(QueuePairEvent.COMMUNICATION_ESTABLISHED);
            }
            responder.receive(packet);
        } else if (state.sends()) {
            requester.receive(packet);
            reportIfDrained();
        }
        failIfOverrun();
        engine.activate(this);
    }

    @Override
    void timerExpired() {
        if (state == QueuePairState.ERROR) {
            flush(); // An earlier attempt has failed.
        } else {
            requester.timerExpired();
        }
        failIfOverrun();
        engine.activate(this);
    }

    /** Returns the number of packets that have arrived from the peer since the creation. */
    public long packetsReceived() {
        return packetsReceived;
    }

    /**
     * Queues a packet that makes the remote queue pair send an acknowledgement, if it exists and is
     * connected to this queue pair. Has no effect on work requests. An unreliable queue pair sends
     * no such packet.
     */
    public void probe() {
        probeDue = true;
        engine.activate(this);
    }

    private TransmitResult sendProbe() {
        var packet = route.claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        probeDue = false;
        return requester.probe(packet) ? TransmitResult.SENT : sendInTurn();
    }

    @Override
    TransmitResult send() {
        var outcome = probeDue ? sendProbe() : sendInTurn();
        failIfOverrun();
        return outcome;
    }

    /**
     * Sends one packet of the requester or of the responder. Successive calls start alternately
     * with the requester and with the responder, so that neither starves.
     */
    private TransmitResult sendInTurn() {
        responderFirst = !responderFirst;
        var outcome = responderFirst ? responder.send() : sendRequest();
        if (outcome != TransmitResult.IDLE) {
            return outcome;
        }
        return responderFirst ? sendRequest() : responder.send();
    }

    private TransmitResult sendRequest() {
        var outcome = state.sends() ? requester.send() : TransmitResult.IDLE;
        if (outcome == TransmitResult.SENT && !transport.isReliable()) {
            reportIfDrained();
        }
        return outcome;
    }

    /**
     * Raises {@link QueuePairEvent#SEND_QUEUE_DRAINED} once for each time that this queue pair is
     * drained.
     */
    private void reportIfDrained() {
        if (state != QueuePairState.SEND_QUEUE_DRAINED) {
            drainReported = false;
        } else if (!drainReported && requester.isDrained()) {
            drainReported = true;
            events.raised(QueuePairEvent.SEND_QUEUE_DRAINED);
        }
    }

    /**
     * Completes all posted receives as flushed. Does nothing if the receive queue is shared.
     *
     * @param scratch an object that this method uses for a copy of each receive
     */
    void flushReceives(ReceiveWork scratch) {
        while (!receivesShared && receives.take(scratch)) {
            completions.failReceive(completions.receives(), scratch, CompletionStatus.FLUSHED);
        }
    }

    @Override
    public ProtectionDomain domain() {
        return domain;
    }

    Transport transport() {
        return transport;
    }

    PeerRoute route() {
        return route;
    }

    CompletionReporter completions() {
        return completions;
    }

    /** Creates a writer for the request packets of this queue pair. */
    RequestWriter newRequestWriter() {
        return new RequestWriter(route, engine.memory(), domain, transport);
    }

    /**
     * Returns the XRC domain if this is the receiving end of an extended connection; otherwise
     * null.
     */
    @Nullable XrcDomainIdentity extendedDomain() {
        return extendedDomain;
    }

    boolean permits(int right) {
        return (access & right) == right;
    }

    int notReadyTimer() {
        return notReadyTimer;
    }

    void raise(QueuePairEvent event) {
        events.raised(event);
    }

    int queueKey() {
        return queueKey;
    }
}
