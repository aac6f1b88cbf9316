package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketSequence;
import org.jrdma.soft.roce.packet.Position;
import org.jspecify.annotations.Nullable;

/**
 * Executes the requests of a peer over a reliable connection, each once and in order.
 *
 * <p>Each packet is checked completely before memory is touched. Responses wait in a {@link
 * ResponseQueue} for their turn on the link, where acknowledgements merge.
 */
final class ReliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;
    private final RequestExecutor executor;
    private final ResponseSender sender;

    /** The receive queue, its completion queue, and the identity that memory is accessed with. */
    private ReceiveQueue receives;

    private CompletionSink completions;
    private AccessIdentity accessor;

    /**
     * The receive queue that the last request over an extended connection named; otherwise null.
     */
    private @Nullable ExtendedReceiveQueue named;

    private ResponseQueue responses;
    private ReplayCache replays;

    /** The next sequence number expected. */
    private int expected;

    /** The number of messages executed (MSN). */
    private int messages;

    /** True if a NAK requested retransmission. No further NAK is sent until the peer resumes. */
    private boolean gapReported;

    /** The operation of the message that is arriving; null between messages. */
    private @Nullable Operation inProgress;

    /** True if {@code receive} was taken from the queue and is not complete. */
    private boolean receiveTaken;

    /** How many bytes of the message have arrived. */
    private long received;

    private final IncomingWrite write;

    /** True if a request was rejected. Queued responses are still sent then. */
    private boolean rejected;

    ReliableResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.reporter = queuePair.completions();
        this.receives = queuePair.receives();
        this.completions = reporter.receives();
        this.accessor = queuePair;
        this.receive = new ReceiveWork(receives.maxBuffers());
        this.executor = new RequestExecutor(queuePair, engine.memory());
        this.write = new IncomingWrite(engine.memory());
        this.sender = new ResponseSender(queuePair.link(), engine.memory(), queuePair.transport());
        this.responses = new ResponseQueue(0);
        this.replays = new ReplayCache(0, queuePair.link(), responses);
    }

    @Override
    public void start(ReceiveParameters parameters) {
        reset();
        expected = parameters.sequence();
        var maxReads = parameters.maxDestinationReads();
        responses = new ResponseQueue(maxReads);
        replays = new ReplayCache(maxReads, queuePair.link(), responses);
    }

    @Override
    public void receive(IncomingPacket packet) {
        var ahead = distance(expected, packet.sequence());
        if (ahead > 0) {
            if (!gapReported) {
                gapReported = true;
                responses.acknowledge(expected, AcknowledgeHeader.SEQUENCE_ERROR, messages);
            }
            return;
        }
        if (ahead < 0) {
            replays.repeat(packet, expected, messages);
            return;
        }
        gapReported = false;
        if (packet.opCode().hasExtended() && !select(packet.extended().receiveQueue())) {
            return;
        }
        switch (packet.opCode().operation()) {
            case SEND -> receiveSend(packet);
            case WRITE -> receiveWrite(packet);
            default -> execute(packet);
        }
    }

    /**
     * Selects the receive queue that a request names. Returns false if the request was rejected.
     */
    private boolean select(int number) {
        var next = engine.extendedReceives(number);
        if (next == null || next.domain() != queuePair.extendedDomain()) {
            reject(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return false;
        }
        if (inProgress != null && next != named) {
            reject(AcknowledgeHeader.INVALID_REQUEST);
            return false;
        }
        named = next;
        receives = next.queue();
        completions = next.completions();
        accessor = receives.domain();
        return true;
    }

    /** Executes a request that has a response of its own. */
    private void execute(IncomingPacket packet) {
        var syndrome =
                inProgress != null || replays.isFull()
                        ? AcknowledgeHeader.INVALID_REQUEST
                        : executor.execute(packet, accessor, replays.next(), nextMessage());
        if (syndrome != AcknowledgeHeader.ACKNOWLEDGED) {
            reject(syndrome);
            return;
        }
        messages = nextMessage();
        expected = plus(expected, replays.add());
    }

    private int nextMessage() {
        return messages + 1 & PacketSequence.MASK;
    }

    private void receiveSend(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!continues(Operation.SEND, position) || !queuePair.link().hasFittingLength(packet)) {
            reject(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (position.begins()) {
            if (!takeReceive()) {
                return;
            }
            inProgress = Operation.SEND;
            received = 0;
        }
        var bytes = packet.payloadBytes();
        if (received + bytes > receive.buffers.bytes()) {
            failReceive(CompletionStatus.LOCAL_LENGTH_ERROR);
            reject(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (!receive.scatter(engine.memory(), receives.domain(), received, packet)) {
            failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR);
            reject(AcknowledgeHeader.REMOTE_OPERATION_ERROR);
            return;
        }
        received += bytes;
        if (packet.opCode().hasInvalidate()
                && !engine.memory().invalidate(accessor, packet.invalidate().key())) {
            failInvalidation();
            return;
        }
        if (position.ends()) {
            receiveTaken = false;
            reporter.completeReceive(
                    completions, receive, CompletionKind.RECEIVE, packet, received);
        }
        accept(packet);
    }

    /**
     * Fails a message whose key to invalidate is not a window of this queue pair. The message has
     * arrived, so the sender receives an acknowledgement (a class J error: a local error of the
     * responder).
     */
    private void failInvalidation() {
        rejected = true;
        responses.acknowledge(expected, AcknowledgeHeader.ACKNOWLEDGED, messages);
        failReceive(CompletionStatus.REMOTE_INVALID_REQUEST);
        queuePair.fail();
    }

    private void receiveWrite(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!continues(Operation.WRITE, position)
                || !queuePair.link().hasFittingLength(packet)
                || !queuePair.permits(Access.REMOTE_WRITE)) {
            reject(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (position.begins()) {
            write.begin(packet);
            received = 0;
        }
        var arrived = received + packet.payloadBytes();
        if (!write.fitsLength(position, arrived)) {
            reject(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        // The first packet is checked for the whole message, so that a rejected message writes
        // nothing.
        if (position.begins() && !write.isPermitted(accessor)) {
            reject(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        var immediate = packet.opCode().hasImmediate();
        if (immediate && !takeReceive()) {
            return;
        }
        if (!write.write(accessor, received, packet)) {
            reject(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        inProgress = Operation.WRITE;
        received = arrived;
        if (immediate) {
            receiveTaken = false;
            reporter.completeReceive(
                    completions,
                    receive,
                    CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE,
                    packet,
                    write.bytes());
        }
        accept(packet);
    }

    /** Returns true if a packet at {@code position} may follow the previous packet. */
    private boolean continues(Operation operation, Position position) {
        return position.begins() ? inProgress == null : inProgress == operation;
    }

    /** Takes a receive. Sends an RNR NAK and returns false if there is none. */
    private boolean takeReceive() {
        if (!receives.take(receive)) {
            gapReported = true;
            responses.acknowledge(
                    expected,
                    AcknowledgeHeader.RECEIVER_NOT_READY | queuePair.notReadyTimer(),
                    messages);
            return false;
        }
        receiveTaken = true;
        return true;
    }

    /** Records that the expected packet was executed, and acknowledges it if requested. */
    private void accept(IncomingPacket packet) {
        var sequence = expected;
        expected = plus(expected, 1);
        if (packet.opCode().position().ends()) {
            inProgress = null;
            messages = nextMessage();
        }
        if (packet.acknowledge()) {
            responses.acknowledge(sequence, AcknowledgeHeader.ACKNOWLEDGED, messages);
        }
    }

    /** Answers the expected packet with a NAK and fails the queue pair. */
    private void reject(int syndrome) {
        rejected = true;
        responses.acknowledge(expected, syndrome, messages);
        if (receiveTaken && inProgress == Operation.SEND) {
            failReceive(CompletionStatus.REMOTE_INVALID_REQUEST);
        }
        reportRejection(syndrome);
        queuePair.fail();
    }

    private void reportRejection(int syndrome) {
        switch (syndrome) {
            case AcknowledgeHeader.INVALID_REQUEST -> queuePair.raise(QueuePairEvent.REQUEST_ERROR);
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR ->
                    queuePair.raise(QueuePairEvent.ACCESS_ERROR);
            default -> {} // the completion of the receive reports it
        }
    }

    private void failReceive(CompletionStatus status) {
        receiveTaken = false;
        if (named == null || !named.isDestroyed()) {
            reporter.failReceive(completions, receive, status);
        }
    }

    @Override
    public TransmitResult send() {
        var response = responses.first();
        if (response == null) {
            return TransmitResult.IDLE;
        }
        var packet = queuePair.link().claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        if (!sender.send(responses, response, packet)) {
            reportRejection(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            if (!rejected) {
                queuePair.fail();
            }
        }
        return TransmitResult.SENT;
    }

    @Override
    public void flush() {
        if (!rejected) {
            responses.clear();
        }
        inProgress = null;
        if (receiveTaken) {
            failReceive(CompletionStatus.FLUSHED);
        }
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {
        responses.clear();
        replays = new ReplayCache(0, queuePair.link(), responses);
        messages = 0;
        gapReported = false;
        inProgress = null;
        receiveTaken = false;
        rejected = false;
        named = null;
    }
}
