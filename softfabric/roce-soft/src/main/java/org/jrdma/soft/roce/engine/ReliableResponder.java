package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import java.lang.invoke.VarHandle;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryAccessor;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.AtomicResultHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.PacketSequence;
import org.jrdma.soft.roce.packet.Position;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jspecify.annotations.Nullable;

/**
 * Carries out a peer's requests over a reliable connection, each once and in order.
 *
 * <p>Everything a packet says is checked before memory is touched. Answers wait in {@link
 * ResponseQueue} for their turn on the link, so acknowledgements that wait there merge.
 */
final class ReliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final ReceiveWork receive;
    private final OpCode acknowledge;
    private final OpCode atomicAcknowledge;
    private final long[] atomicResult = new long[1];

    /** Where messages go, where that is told, and in whose name memory is accessed. */
    private ReceiveQueue receives;

    private CompletionSink completions;
    private MemoryAccessor accessor;

    /** What the last request over an extended connection named; null before, and without. */
    private @Nullable ExtendedReceiveQueue named;

    private ResponseQueue responses = new ResponseQueue(0);

    /** The last READs and atomics, to be answered again. The oldest is overwritten first. */
    private ResponseQueue.Response[] executed = {};

    private int executedNext;
    private int maxReads;

    /** The sequence number expected. */
    private int expected;

    /** How many messages were carried out (MSN). */
    private int messages;

    /** Whether the peer knows already where to go on: nothing more is said until it does. */
    private boolean gapReported;

    /** Whether a repeated request was not acknowledged, and the last such. */
    private boolean unsaid;

    private int lastUnsaid;

    /** What the message under way is; null between messages. */
    private @Nullable Operation underWay;

    /** Whether {@code receive} was taken from the queue and not completed. */
    private boolean receiveTaken;

    /** How much of the message under way has arrived. */
    private long received;

    private long writeAddress;
    private int writeKey;
    private long writeBytes;

    /** Whether a request was refused. Then what is in the queue is still sent. */
    private boolean refused;

    ReliableResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.receives = queuePair.receives();
        this.completions = queuePair.receiveCompletions();
        this.accessor = queuePair;
        this.receive = new ReceiveWork(receives.maxBuffers());
        this.acknowledge = OpCode.of(queuePair.transport(), Operation.ACKNOWLEDGE);
        this.atomicAcknowledge = OpCode.of(queuePair.transport(), Operation.ATOMIC_ACKNOWLEDGE);
    }

    @Override
    public void start(ReceiveParameters parameters) {
        reset();
        maxReads = parameters.maxDestinationReads();
        expected = parameters.sequence();
        responses = new ResponseQueue(maxReads);
        executed = new ResponseQueue.Response[maxReads];
        for (var i = 0; i < maxReads; i++) {
            executed[i] = new ResponseQueue.Response();
        }
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
            repeat(packet);
            return;
        }
        gapReported = false;
        if (packet.opCode().hasExtended() && !turnTo(packet.extended().receiveQueue())) {
            return;
        }
        switch (packet.opCode().operation()) {
            case SEND -> send(packet);
            case WRITE -> write(packet);
            case READ_REQUEST -> read(packet);
            case COMPARE_AND_SWAP -> atomic(packet, MemoryRegistry.Atomic.COMPARE_AND_SWAP);
            case FETCH_AND_ADD -> atomic(packet, MemoryRegistry.Atomic.FETCH_AND_ADD);
            case ATOMIC_WRITE -> atomicWrite(packet);
            case FLUSH -> flush(packet);
            default -> throw new IllegalStateException("not a request: " + packet.opCode());
        }
    }

    /** Turns to the receive queue that a request is for. False if that was refused. */
    private boolean turnTo(int number) {
        var next = engine.extendedReceives(number);
        if (next == null || next.domain() != queuePair.extendedDomain()) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return false;
        }
        if (underWay != null && next != named) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return false;
        }
        named = next;
        receives = next.queue();
        completions = next.completions();
        accessor = receives.domain();
        return true;
    }

    private void send(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!continues(Operation.SEND, position) || !queuePair.hasFittingLength(packet)) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (position.begins()) {
            if (!takeReceive()) {
                return;
            }
            underWay = Operation.SEND;
            received = 0;
        }
        var bytes = packet.payloadBytes();
        if (received + bytes > receive.buffers.bytes()) {
            failReceive(CompletionStatus.LOCAL_LENGTH_ERROR);
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (bytes > 0
                && !receive.buffers.scatter(
                        engine.memory(),
                        receives.domain(),
                        received,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        bytes)) {
            failReceive(CompletionStatus.LOCAL_PROTECTION_ERROR);
            refuse(AcknowledgeHeader.REMOTE_OPERATION_ERROR);
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
            queuePair.completeReceive(
                    completions, receive, CompletionKind.RECEIVE, packet, received);
        }
        accept(packet);
    }

    /**
     * The message is there, and its sender is told so; the key that it names is no window of this
     * queue pair's. (Class J: the receiver's is the fault.)
     */
    private void failInvalidation() {
        refused = true;
        responses.acknowledge(expected, AcknowledgeHeader.ACKNOWLEDGED, messages);
        failReceive(CompletionStatus.REMOTE_INVALID_REQUEST);
        queuePair.fail();
    }

    private void write(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!continues(Operation.WRITE, position)
                || !queuePair.hasFittingLength(packet)
                || !queuePair.permits(Access.REMOTE_WRITE)) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (position.begins()) {
            var header = packet.rdma();
            writeAddress = header.address();
            writeKey = header.key();
            writeBytes = Integer.toUnsignedLong(header.length());
            received = 0;
        }
        var bytes = packet.payloadBytes();
        var arrived = received + bytes;
        if (writeBytes > MessageLimits.MAX_BYTES
                || (position.ends() ? arrived != writeBytes : arrived >= writeBytes)) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        // All of it, with the first packet: nothing is written of what cannot be written whole.
        if (position.begins()
                && writeBytes > 0
                && !permits(writeKey, writeAddress, writeBytes, Access.REMOTE_WRITE)) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        var immediate = packet.opCode().hasImmediate();
        if (immediate && !takeReceive()) {
            return;
        }
        if (bytes > 0
                && !engine.memory()
                        .write(
                                accessor,
                                writeKey,
                                writeAddress + received,
                                Access.REMOTE_WRITE,
                                packet.buffer().memory(),
                                packet.payloadOffset(),
                                bytes)) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        underWay = Operation.WRITE;
        received = arrived;
        if (immediate) {
            receiveTaken = false;
            queuePair.completeReceive(
                    completions,
                    receive,
                    CompletionKind.RECEIVE_WRITE_IMMEDIATE,
                    packet,
                    writeBytes);
        }
        accept(packet);
    }

    private void read(IncomingPacket packet) {
        var header = packet.rdma();
        var bytes = Integer.toUnsignedLong(header.length());
        if (underWay != null
                || !queuePair.permits(Access.REMOTE_READ)
                || bytes > MessageLimits.MAX_BYTES
                || responses.firstAnswers() >= maxReads) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (bytes > 0 && !permits(header.key(), header.address(), bytes, Access.REMOTE_READ)) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        var packets = queuePair.packets(bytes);
        messages = messages + 1 & PacketSequence.MASK;
        var answer = nextExecuted();
        answer.read(expected, packets, accessor, header.address(), header.key(), bytes, messages);
        responses.add(answer);
        expected = plus(expected, packets);
    }

    private void atomic(IncomingPacket packet, MemoryRegistry.Atomic operation) {
        var header = packet.atomic();
        if (underWay != null
                || !queuePair.permits(Access.REMOTE_ATOMIC)
                || (header.address() & Long.BYTES - 1) != 0
                || responses.firstAnswers() >= maxReads) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (!engine.memory()
                .atomic(
                        accessor,
                        header.key(),
                        header.address(),
                        operation,
                        header.swapOrAdd(),
                        header.compare(),
                        atomicResult)) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        messages = messages + 1 & PacketSequence.MASK;
        var answer = nextExecuted();
        answer.atomic(expected, atomicResult[0], messages);
        responses.add(answer);
        expected = plus(expected, 1);
    }

    private void atomicWrite(IncomingPacket packet) {
        var header = packet.rdma();
        if (underWay != null
                || !queuePair.permits(Access.REMOTE_WRITE)
                || header.length() != Long.BYTES
                || packet.payloadBytes() != Long.BYTES
                || (header.address() & Long.BYTES - 1) != 0
                || responses.firstAnswers() >= maxReads) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        if (!engine.memory()
                .writeAtomically(
                        queuePair,
                        header.key(),
                        header.address(),
                        packet.buffer().memory(),
                        packet.payloadOffset())) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        answerEmpty(header);
    }

    /** What came before is written already; a flush makes it visible to all. */
    private void flush(IncomingPacket packet) {
        var flush = packet.flush();
        var header = packet.rdma();
        var right =
                switch (flush.placement()) {
                    case FlushHeader.GLOBAL -> Access.FLUSH_GLOBAL;
                    case FlushHeader.PERSISTENT -> Access.FLUSH_PERSISTENT;
                    case FlushHeader.GLOBAL | FlushHeader.PERSISTENT ->
                            Access.FLUSH_GLOBAL | Access.FLUSH_PERSISTENT;
                    default -> 0;
                };
        if (underWay != null
                || right == 0
                || flush.selectivity() > FlushHeader.REGION
                || !queuePair.permits(right)
                || responses.firstAnswers() >= maxReads) {
            refuse(AcknowledgeHeader.INVALID_REQUEST);
            return;
        }
        var bytes = Integer.toUnsignedLong(header.length());
        var permitted =
                flush.selectivity() == FlushHeader.REGION
                        ? engine.memory().permitsAll(queuePair, header.key(), right)
                        : permits(header.key(), header.address(), bytes, right);
        if (!permitted) {
            refuse(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            return;
        }
        VarHandle.fullFence();
        answerEmpty(header);
    }

    /** Answers as a READ of nothing is answered. */
    private void answerEmpty(RdmaHeader header) {
        messages = messages + 1 & PacketSequence.MASK;
        var answer = nextExecuted();
        answer.read(expected, 1, accessor, header.address(), header.key(), 0, messages);
        responses.add(answer);
        expected = plus(expected, 1);
    }

    private ResponseQueue.Response nextExecuted() {
        var response = executed[executedNext];
        executedNext = (executedNext + 1) % maxReads;
        return response;
    }

    /** What was executed {@code age} READs and atomics ago, of which the last is 1. */
    private ResponseQueue.Response executed(int age) {
        return executed[(executedNext + maxReads - age) % maxReads];
    }

    private boolean permits(int key, long address, long bytes, int right) {
        return engine.memory().permits(accessor, key, address, bytes, right);
    }

    /** Whether a packet at {@code position} may follow what came before. */
    private boolean continues(Operation operation, Position position) {
        return position.begins() ? underWay == null : underWay == operation;
    }

    /** Takes a receive; if there is none, tells the peer to come again. */
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

    /** The packet expected was carried out. */
    private void accept(IncomingPacket packet) {
        var sequence = expected;
        expected = plus(expected, 1);
        if (packet.opCode().position().ends()) {
            underWay = null;
            messages = messages + 1 & PacketSequence.MASK;
        }
        if (packet.acknowledge()) {
            responses.acknowledge(sequence, AcknowledgeHeader.ACKNOWLEDGED, messages);
        }
    }

    /** Answers a request that was carried out before, as far as it is remembered. */
    private void repeat(IncomingPacket packet) {
        if (responses.isScarce()) {
            return; // the peer will ask again
        }
        switch (packet.opCode().operation()) {
            case SEND, WRITE -> repeatAcknowledgement(packet.sequence());
            case READ_REQUEST -> repeatRead(packet, Integer.toUnsignedLong(packet.rdma().length()));
            case ATOMIC_WRITE, FLUSH -> repeatRead(packet, 0);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                for (var age = 1; age <= maxReads; age++) {
                    var known = executed(age);
                    if (known.isAtomic() && known.sequence() == packet.sequence()) {
                        unsaid = false;
                        responses.addRepeated(known);
                        return;
                    }
                }
            }
            default -> throw new IllegalStateException("not a request: " + packet.opCode());
        }
    }

    /**
     * Acknowledges as much as there is, so that the peer need not repeat all of it, but nothing
     * behind a READ or atomic that follows: to the peer that would mean its response is lost.
     *
     * <p>Where one follows, the peer repeats that too, and its answer acknowledges this as well. So
     * nothing is said unless the peer asks again without it: an acknowledgement that is older than
     * responses which the peer has part of makes the kernel's rxe take the next part for an error.
     */
    private void repeatAcknowledgement(int sequence) {
        var end = expected;
        for (var known : executed) {
            if (known.isUsed()
                    && distance(sequence, known.sequence()) > 0
                    && distance(known.sequence(), end) > 0) {
                end = known.sequence();
            }
        }
        if (end != expected && !(unsaid && distance(sequence, lastUnsaid) >= 0)) {
            unsaid = true;
            lastUnsaid = sequence;
            return;
        }
        unsaid = false;
        responses.acknowledge(plus(end, -1), AcknowledgeHeader.ACKNOWLEDGED, messages);
    }

    /** Answers what is answered as a READ of so many bytes. */
    private void repeatRead(IncomingPacket packet, long bytes) {
        var header = packet.rdma();
        for (var age = 1; age <= maxReads; age++) {
            var known = executed(age);
            var skipped = distance(known.sequence(), packet.sequence());
            var skippedBytes = (long) skipped * queuePair.pathMtu();
            if (known.isRead()
                    && skipped >= 0
                    && skipped < known.packets()
                    && header.key() == known.key()
                    && header.address() == known.address() + skippedBytes
                    && bytes <= known.bytes() - skippedBytes) {
                unsaid = false;
                responses.repeatRead(
                        known,
                        packet.sequence(),
                        queuePair.packets(bytes),
                        header.address(),
                        bytes);
                return;
            }
        }
    }

    /** Answers the packet expected with an error, after which nothing more is taken. */
    private void refuse(int syndrome) {
        refused = true;
        responses.acknowledge(expected, syndrome, messages);
        if (receiveTaken && underWay == Operation.SEND) {
            failReceive(CompletionStatus.REMOTE_INVALID_REQUEST);
        }
        reportRefusal(syndrome);
        queuePair.fail();
    }

    private void reportRefusal(int syndrome) {
        switch (syndrome) {
            case AcknowledgeHeader.INVALID_REQUEST -> queuePair.raise(QueuePairEvent.REQUEST_ERROR);
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR ->
                    queuePair.raise(QueuePairEvent.ACCESS_ERROR);
            default -> {} // the receive's completion tells
        }
    }

    private void failReceive(CompletionStatus status) {
        receiveTaken = false;
        if (named == null || !named.isDestroyed()) {
            queuePair.failReceive(completions, receive, status);
        }
    }

    @Override
    public TransmitResult send() {
        var response = responses.first();
        if (response == null) {
            return TransmitResult.IDLE;
        }
        var packet = engine.claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        if (response.isRead()) {
            sendReadResponse(response, packet);
        } else if (response.isAtomic()) {
            encode(response, packet);
            new AtomicResultHeader(response.original())
                    .encode(packet.memory(), headers() + AcknowledgeHeader.BYTES);
            queuePair.send(packet, atomicAcknowledge, false, 0, false, response.sequence());
            responses.removeFirst();
        } else {
            encode(response, packet);
            queuePair.send(packet, acknowledge, false, 0, false, response.sequence());
            responses.removeFirst();
        }
        return TransmitResult.SENT;
    }

    private void sendReadResponse(ResponseQueue.Response response, PacketBuffer packet) {
        var mtu = queuePair.pathMtu();
        var index = response.nextPacket();
        var offset = (long) index * mtu;
        var bytes = (int) Math.min(mtu, response.bytes() - offset);
        var sequence = plus(response.sequence(), index);
        var position = Position.of(index, response.packets());
        var opCode = OpCode.of(queuePair.transport(), Operation.READ_RESPONSE, position, false);
        if (bytes > 0
                && !engine.memory()
                        .read(
                                response.accessor(),
                                response.key(),
                                response.address() + offset,
                                Access.REMOTE_READ,
                                packet.memory(),
                                headers() + opCode.headerBytes(),
                                bytes)) {
            if (response.isRepeated()) {
                // Asked for twice by the network, as a rule, and deregistered by one who knows the
                // first answer has arrived. A refusal would end a healthy connection; a peer that
                // did lose the answer ends by itself.
                responses.removeFirst();
                return;
            }
            // Deregistered since. The peer learns it in place of this packet.
            encode(AcknowledgeHeader.REMOTE_ACCESS_ERROR, response.messages(), packet);
            queuePair.send(packet, acknowledge, false, 0, false, sequence);
            responses.clear();
            reportRefusal(AcknowledgeHeader.REMOTE_ACCESS_ERROR);
            if (!refused) {
                queuePair.fail();
            }
            return;
        }
        if (position != Position.MIDDLE) {
            encode(response, packet);
        }
        queuePair.send(packet, opCode, false, bytes, false, sequence);
        if (response.packetSent()) {
            responses.removeFirst();
        }
    }

    private static void encode(ResponseQueue.Response response, PacketBuffer packet) {
        encode(response.syndrome(), response.messages(), packet);
    }

    private static void encode(int syndrome, int messages, PacketBuffer packet) {
        new AcknowledgeHeader(syndrome, messages).encode(packet.memory(), headers());
    }

    private static int headers() {
        return PacketBuffer.START + BaseTransportHeader.BYTES;
    }

    @Override
    public void flush() {
        if (!refused) {
            responses.clear();
        }
        underWay = null;
        if (receiveTaken) {
            failReceive(CompletionStatus.FLUSHED);
        }
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {
        responses.clear();
        executed = new ResponseQueue.Response[0];
        executedNext = 0;
        messages = 0;
        gapReported = false;
        unsaid = false;
        underWay = null;
        receiveTaken = false;
        refused = false;
        named = null;
    }
}
