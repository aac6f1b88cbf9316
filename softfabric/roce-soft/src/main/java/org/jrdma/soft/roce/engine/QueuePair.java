package org.jrdma.soft.roce.engine;

import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.memory.MemoryAccessor;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.ExtendedHeader;
import org.jrdma.soft.roce.packet.ImmediateHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.InvalidateHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Position;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair: its state, its queues, and the two halves that work on them. Made by {@link
 * Engine#newQueuePair}. All but posting belongs to the engine's thread; whether a change of state
 * is allowed is for the caller to know.
 */
public final class QueuePair implements MemoryAccessor {

    private static final int FULL_MEMBER = 0x8000;

    private final Engine engine;
    private final int number;
    private final Transport transport;
    private final ProtectionDomain domain;
    private final CompletionSink sendCompletions;
    private final CompletionSink receiveCompletions;
    private final EventSink events;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final boolean receivesShared;
    private final @Nullable ExtendedDomain extendedDomain;
    private final Requester requester;
    private final Responder responder;

    /** Read by those who post, too. */
    private volatile QueuePairState state = QueuePairState.RESET;

    private int access;
    private int partitionKey;
    private int queueKey;
    private int notReadyTimer;
    private Address local = new Address(0, 0);
    private Address remote = local;
    private int remoteNumber;
    private @Nullable Path path;
    private int pathMtu;
    private boolean established;
    private boolean responderFirst;
    private boolean drainReported;

    /** Whether a completion found no room. */
    private boolean overrun;

    // Of the engine: whether it has a turn coming, and its place among the timers.
    boolean active;
    long deadline = TimerQueue.NEVER;
    long timerKey;
    int timerIndex = -1;

    // Of its path: whether it waits there.
    boolean waitsForPath;

    // Of the doorbells.
    @SuppressWarnings("unused") // through a VarHandle
    boolean rung;

    @Nullable QueuePair rungBefore;

    QueuePair(Engine engine, int number, QueuePairOptions options, WorkQueues queues) {
        this.engine = engine;
        this.number = number;
        this.transport = options.transport();
        this.domain = options.domain();
        this.sendCompletions = options.sendCompletions();
        this.receiveCompletions = options.receiveCompletions();
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
            default -> throw new IllegalArgumentException("transport " + transport);
        }
    }

    /** Its number, as peers know it (QPN). */
    public int number() {
        return number;
    }

    public QueuePairState state() {
        return state;
    }

    /** Where to post work. */
    public SendQueue sends() {
        return sends;
    }

    /** Where to post receives. */
    public ReceiveQueue receives() {
        return receives;
    }

    /** To RESET: forgets all work, without a completion. */
    public void reset() {
        state = QueuePairState.RESET;
        overrun = false;
        engine.cancelTimer(this);
        requester.reset();
        responder.reset();
        leavePath();
        if (!receivesShared) {
            receives.release(receives.tail());
        }
    }

    /**
     * To INIT.
     *
     * @param access which operations of the peer are carried out
     * @param queueKey what a datagram must carry
     */
    public void initialize(int access, int partitionKey, int queueKey) {
        this.access = access;
        this.partitionKey = partitionKey;
        this.queueKey = queueKey;
        state = QueuePairState.INITIALIZED;
    }

    /** Changes which operations of the peer are carried out, from now on. */
    public void access(int rights) {
        access = rights;
    }

    /** Changes what a datagram must carry, from now on. */
    public void queueKey(int key) {
        queueKey = key;
    }

    /** Changes when a peer is told to come again, from now on. */
    public void notReadyTimer(int code) {
        notReadyTimer = code;
    }

    /**
     * Goes on to another address of the peer. Nothing may be {@linkplain #isDraining() under way}.
     */
    public void remote(Address peer) {
        remote = peer;
        if (transport.isReliable()) {
            leavePath();
            path = engine.enterPath(peer);
        }
    }

    /**
     * Goes on sending with all of these but the sequence number. Nothing may be {@linkplain
     * #isDraining() under way}.
     */
    public void change(SendParameters parameters) {
        requester.change(parameters);
    }

    /** To RTR. */
    public void readyToReceive(ReceiveParameters parameters) {
        local = parameters.local();
        remote = parameters.remote();
        remoteNumber = parameters.remoteQueuePair();
        leavePath();
        if (transport.isReliable()) {
            path = engine.enterPath(remote);
        }
        pathMtu = parameters.pathMtu();
        notReadyTimer = parameters.notReadyTimer();
        established = false;
        responder.start(parameters);
        state = QueuePairState.READY_TO_RECEIVE;
    }

    private void leavePath() {
        if (path != null) {
            engine.leavePath(this, path);
            path = null;
        }
    }

    /** The path of a reliable connection. */
    Path path() {
        if (path == null) {
            throw new IllegalStateException("not connected");
        }
        return path;
    }

    /** To RTS, from RTR. */
    public void readyToSend(SendParameters parameters) {
        established = true;
        requester.start(parameters);
        resumeSending();
    }

    /** To RTS, from SQD or SQE. */
    public void resumeSending() {
        state = QueuePairState.READY_TO_SEND;
        engine.activate(this);
    }

    /** To SQD: work begun is finished, no more is begun. */
    public void drain() {
        state = QueuePairState.SEND_QUEUE_DRAINED;
        drainReported = false;
        reportIfDrained();
    }

    /** Whether it is in SQD, with work begun that is not finished. */
    public boolean isDraining() {
        return state == QueuePairState.SEND_QUEUE_DRAINED && !requester.isDrained();
    }

    /** To ERR: all work is flushed. */
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

    /**
     * Ends it if its owner misses a completion: he would wait for what is done, and go on with what
     * failed. What the peer sent since is not acknowledged.
     */
    private void failIfOverrun() {
        if (overrun && state != QueuePairState.ERROR) {
            fail();
        }
    }

    /** To SQE, where an unreliable queue pair goes on receiving. */
    void failSending() {
        state = QueuePairState.SEND_QUEUE_ERROR;
        requester.flush();
    }

    /** Completes what was posted to a queue that is in error. */
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
     * Whether a packet is of its transport, partition and peer, and its state is one to receive.
     */
    boolean expects(IncomingPacket packet) {
        var buffer = packet.buffer();
        return state.receives()
                && packet.opCode().transport() == transport
                && isOfItsDirection(packet.opCode().operation())
                && isOfPartition(packet.partitionKey())
                && (transport == Transport.DATAGRAM
                        || (buffer.sourceHigh() == remote.high()
                                && buffer.sourceLow() == remote.low()
                                && buffer.destinationHigh() == local.high()
                                && buffer.destinationLow() == local.low()));
    }

    /** Of an extended connection, requests go to the one end, and answers to the other. */
    private boolean isOfItsDirection(Operation operation) {
        return transport != Transport.EXTENDED || operation.isRequest() == (extendedDomain != null);
    }

    /** The same partition, and not limited members both. */
    private boolean isOfPartition(int key) {
        return ((key ^ partitionKey) & ~FULL_MEMBER & 0xffff) == 0
                && ((key | partitionKey) & FULL_MEMBER) != 0;
    }

    void receive(IncomingPacket packet) {
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

    void timerExpired() {
        requester.timerExpired();
        failIfOverrun();
        engine.activate(this);
    }

    /** Sends one packet, if there is one to send. */
    TransmitResult send() {
        var outcome = sendInTurn();
        failIfOverrun();
        return outcome;
    }

    /** Sends one packet of either half. They take turns, so that neither starves. */
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

    private void reportIfDrained() {
        if (state != QueuePairState.SEND_QUEUE_DRAINED) {
            drainReported = false;
        } else if (!drainReported && requester.isDrained()) {
            drainReported = true;
            events.raised(QueuePairEvent.SEND_QUEUE_DRAINED);
        }
    }

    /**
     * Sends a packet whose payload and further headers stand in {@code buffer} already, to the peer
     * that it is connected to.
     */
    void send(
            PacketBuffer buffer,
            OpCode opCode,
            boolean solicited,
            int payloadBytes,
            boolean acknowledge,
            int sequence) {
        send(buffer, remote, remoteNumber, opCode, solicited, payloadBytes, acknowledge, sequence);
    }

    /** As {@link #send(PacketBuffer, OpCode, boolean, int, boolean, int)}, to anyone. */
    void send(
            PacketBuffer buffer,
            Address destination,
            int destinationNumber,
            OpCode opCode,
            boolean solicited,
            int payloadBytes,
            boolean acknowledge,
            int sequence) {
        var padding = -payloadBytes & 3;
        var memory = buffer.memory();
        BaseTransportHeader.encode(
                memory,
                PacketBuffer.START,
                opCode,
                solicited,
                padding,
                partitionKey,
                destinationNumber,
                acknowledge,
                sequence);
        var length = BaseTransportHeader.BYTES + opCode.headerBytes() + payloadBytes;
        for (var i = 0; i < padding; i++) {
            memory.set(ValueLayout.JAVA_BYTE, PacketBuffer.START + length + i, (byte) 0);
        }
        buffer.length(length + padding);
        buffer.addresses(local.high(), local.low(), destination.high(), destination.low());
        engine.send(buffer);
    }

    /** Writes what its transport has in front of all other headers. Returns where these begin. */
    int beginRequest(PacketBuffer packet, SendWork work) {
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        if (transport != Transport.EXTENDED) {
            return headers;
        }
        new ExtendedHeader(work.receiveQueue).encode(packet.memory(), headers);
        return headers + ExtendedHeader.BYTES;
    }

    /**
     * Sends packet {@code index} of a SEND or WRITE over a connection.
     *
     * @return false, and nothing sent, if its memory may not be read any more
     */
    boolean sendMessagePacket(
            PacketBuffer packet, SendWork work, int index, boolean acknowledge, int sequence) {
        var offset = (long) index * pathMtu;
        var payload = (int) Math.min(pathMtu, work.bytes() - offset);
        var position = Position.of(index, work.packets);
        var operation = work.operation == SendOperation.SEND ? Operation.SEND : Operation.WRITE;
        var immediate = work.hasImmediate && position.ends();
        var invalidates = work.invalidates && position.ends();
        var opCode =
                invalidates
                        ? OpCode.invalidating(transport, position)
                        : OpCode.of(transport, operation, position, immediate);
        var memory = packet.memory();
        var headers = beginRequest(packet, work);
        var body = PacketBuffer.START + BaseTransportHeader.BYTES + opCode.headerBytes();
        if (payload > 0 && !work.gather(engine.memory(), domain, offset, memory, body, payload)) {
            return false;
        }
        if (operation == Operation.WRITE && position.begins()) {
            new RdmaHeader(work.remoteAddress, work.remoteKey, (int) work.bytes())
                    .encode(memory, headers);
        }
        if (immediate) {
            new ImmediateHeader(work.immediate).encode(memory, body - ImmediateHeader.BYTES);
        }
        if (invalidates) {
            new InvalidateHeader(work.invalidatedKey).encode(memory, body - InvalidateHeader.BYTES);
        }
        // A WRITE without immediate data completes nothing at the receiver.
        var solicited =
                work.solicited
                        && position.ends()
                        && (operation == Operation.SEND || work.hasImmediate);
        send(packet, opCode, solicited, payload, acknowledge, sequence);
        return true;
    }

    /** Tells the completion queue, if work failed or asked for it. */
    void completeSend(SendWork work, CompletionStatus status) {
        if (work.signaled || status != CompletionStatus.SUCCESS) {
            var completion =
                    engine.completion()
                            .begin(work.id, status, CompletionKind.of(work.operation), number);
            completion.bytes = work.operation.isAtomic() ? Long.BYTES : work.bytes();
            tell(sendCompletions, completion);
        }
    }

    private void tell(CompletionSink sink, Completion completion) {
        if (!sink.add(completion)) {
            overrun = true;
        }
    }

    /** Tells the completion queue of a message that arrived. */
    void completeReceive(ReceiveWork work, CompletionKind kind, IncomingPacket packet, long bytes) {
        completeReceive(receiveCompletions, work, kind, packet, bytes);
    }

    /** The same of another completion queue. */
    void completeReceive(
            CompletionSink completions,
            ReceiveWork work,
            CompletionKind kind,
            IncomingPacket packet,
            long bytes) {
        var completion = engine.completion().begin(work.id, CompletionStatus.SUCCESS, kind, number);
        completion.bytes = bytes;
        completion.solicited = packet.solicited();
        completion.hasImmediate = packet.opCode().hasImmediate();
        if (completion.hasImmediate) {
            completion.immediate = packet.immediate().data();
        }
        completion.invalidated = packet.opCode().hasInvalidate();
        if (completion.invalidated) {
            completion.invalidatedKey = packet.invalidate().key();
        }
        if (transport == Transport.DATAGRAM) {
            completion.sourceQueuePair = packet.datagram().sourceQueuePair();
            completion.hasRouteHeader = true;
        } else {
            completion.sourceQueuePair = remoteNumber;
        }
        tell(completions, completion);
    }

    /** Tells the completion queue of a receive that came to nothing. */
    void failReceive(ReceiveWork work, CompletionStatus status) {
        failReceive(receiveCompletions, work, status);
    }

    /** The same of another completion queue. */
    void failReceive(CompletionSink completions, ReceiveWork work, CompletionStatus status) {
        tell(
                completions,
                engine.completion().begin(work.id, status, CompletionKind.RECEIVE, number));
    }

    /** Completes the receives of its own as flushed; those shared stay for others. */
    void flushReceives(ReceiveWork scratch) {
        while (!receivesShared && receives.take(scratch)) {
            failReceive(scratch, CompletionStatus.FLUSHED);
        }
    }

    /** How many packets a message takes. */
    int packets(long bytes) {
        return bytes == 0 ? 1 : (int) ((bytes + pathMtu - 1) / pathMtu);
    }

    /** Whether a packet of a SEND or WRITE is as long as its place in the message demands. */
    boolean hasFittingLength(IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        return switch (packet.opCode().position()) {
            case FIRST, MIDDLE -> bytes == pathMtu;
            case LAST -> bytes >= 1 && bytes <= pathMtu;
            case ONLY -> bytes <= pathMtu;
        };
    }

    @Override
    public ProtectionDomain domain() {
        return domain;
    }

    Transport transport() {
        return transport;
    }

    CompletionSink receiveCompletions() {
        return receiveCompletions;
    }

    /** Of the receiving end of an extended connection. */
    @Nullable ExtendedDomain extendedDomain() {
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

    int pathMtu() {
        return pathMtu;
    }
}
