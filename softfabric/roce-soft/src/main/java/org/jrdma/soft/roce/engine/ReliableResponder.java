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
 * Executes the requests that a peer sends over a reliable connection, each request once and in
 * order.
 *
 * <p>Each packet is checked completely before it changes memory. Responses wait in a {@link
 * ResponseQueue} until the queue pair may send; acknowledgements that wait there are merged.
 */
final class ReliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;
    private final ReadAndAtomicExecutor executor;
    private final ResponseSender sender;

    /**
     * The receive queue for incoming messages. On an extended connection, each request selects this
     * queue, {@link #completions} and {@link #accessor}.
     */
    private ReceiveQueue receives;

    /** The completion queue for receives that are taken from {@link #receives}. */
    private CompletionSink completions;

    /** The identity with which the requests of the peer access memory. */
    private AccessIdentity accessor;

    /**
     * The receive queue that the last request over an extended connection named; null on other
     * connections.
     */
    private @Nullable XrcReceiveQueue named;

    private ResponseQueue responses;
    private ReplayCache replays;

    /** The sequence number that is expected in the next request packet. */
    private int expected;

    /** The number of messages that this responder has executed (MSN). */
    private int messages;

    /**
     * True after a NAK has asked the peer to retransmit, until the expected packet arrives. No
     * further NAK is sent in this state.
     */
    private boolean gapReported;

    /** The operation of the message whose packets are arriving; null between messages. */
    private @Nullable Operation inProgress;

    /**
     * True if {@link #receive} contains a receive that was taken from the queue and has not been
     * completed.
     */
    private boolean receiveTaken;

    /** The number of bytes of the current message that have arrived. */
    private long received;

    private final IncomingWrite write;

    /**
     * True if a request was rejected or could not be completed. The error state then keeps the
     * queued responses, so that the peer receives the NAK.
     */
    private boolean rejected;

    ReliableResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.reporter = queuePair.completions();
        this.receives = queuePair.receives();
        this.completions = reporter.receives();
        this.accessor = queuePair;
        this.receive = new ReceiveWork(receives.maxBuffers());
        this.executor = new ReadAndAtomicExecutor(queuePair, engine.memory());
        this.write = new IncomingWrite(engine.memory());
        this.sender = new ResponseSender(queuePair.route(), engine.memory(), queuePair.transport());
        this.responses = new ResponseQueue(0);
        this.replays = new ReplayCache(0, queuePair.route(), responses);
    }

    @Override
    public void start(ReceiveParameters parameters) {
        reset();
        expected = parameters.sequence();
        var maxReads = parameters.maxDestinationReads();
        responses = new ResponseQueue(maxReads);
        replays = new ReplayCache(maxReads, queuePair.route(), responses);
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
     * Selects the receive queue that a request over an extended connection names. Rejects the
     * request and returns false if the queue does not exist, belongs to another XRC domain, or
     * changes within a message.
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

    /**
     * Executes a READ, atomic, ATOMIC WRITE or FLUSH, and records its response so that the response
     * can be repeated.
     */
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
        if (!continues(Operation.SEND, position) || !queuePair.route().hasFittingLength(packet)) {
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
     * Fails the receive of a SEND WITH INVALIDATE whose key is not that of a memory window that
     * this queue pair may invalidate. The message has arrived, so its sender receives an
     * acknowledgement. The specification calls this a class J error, a local error of the
     * responder.
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
                || !queuePair.route().hasFittingLength(packet)
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
        // The range of the whole message is checked with its first packet, so that a message that
        // is rejected writes nothing.
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

    /**
     * Returns true if a packet with the given operation and position may follow the previous
     * packet.
     */
    private boolean continues(Operation operation, Position position) {
        return position.begins() ? inProgress == null : inProgress == operation;
    }

    /**
     * Takes a receive from the queue. If the queue is empty, sends an RNR NAK and returns false.
     */
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

    /**
     * Records that the expected packet was executed, and acknowledges the packet if the peer has
     * requested that.
     */
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

    /**
     * Sends a NAK with the sequence number of the expected packet and moves the queue pair to the
     * error state.
     */
    private void reject(int syndrome) {
        rejected = true;
        responses.acknowledge(expected, syndrome, messages);
        if (receiveTaken && inProgress == Operation.SEND) {
            failReceive(CompletionStatus.REMOTE_INVALID_REQUEST);
        }
        reportRejection(syndrome);
        queuePair.fail();
    }

    /**
     * Raises the asynchronous event that belongs to the NAK code of a rejected request, if there is
     * one.
     */
    private void reportRejection(int syndrome) {
        switch (syndrome) {
            case AcknowledgeHeader.INVALID_REQUEST -> queuePair.raise(QueuePairEvent.REQUEST_ERROR);
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR ->
                    queuePair.raise(QueuePairEvent.ACCESS_ERROR);
            default -> {} // No event: the receive completes with the error.
        }
    }

    /** Completes the current receive with an error, unless its receive queue was destroyed. */
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
        var packet = queuePair.route().claim();
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
        replays = new ReplayCache(0, queuePair.route(), responses);
        messages = 0;
        gapReported = false;
        inProgress = null;
        receiveTaken = false;
        rejected = false;
        named = null;
    }
}
