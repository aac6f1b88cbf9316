package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Position;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.ReceiverNotReadyTimer;
import org.jspecify.annotations.Nullable;

/**
 * Carries out work over a reliable connection: go-back-N.
 *
 * <p>Work stands in the queue in three parts: from {@code head} it has sequence numbers and waits
 * for its answer, from {@code started} it waits for its turn. {@code cursor} is the work whose
 * packet is sent next; it goes back to the head when something was lost. What is answered leaves at
 * the head, so completions come in order.
 *
 * <p>A READ takes as many sequence numbers as its response has packets. One longer than {@link
 * EngineOptions#readPackets} is asked for in parts, whose borders never move: what is asked for
 * again lies within what the responder remembers as one request.
 */
final class ReliableRequester implements Requester {

    private static final ValueLayout.OfLong NATIVE_LONG = ValueLayout.JAVA_LONG;
    private static final int MOST_DOUBLINGS = 2;

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueue queue;
    private final MemorySegment atomicResult = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

    private SendParameters parameters = new SendParameters(0, 0, 0, 0, 0);

    private long head;
    private long started;
    private long cursor;

    /** The packet of the work at the cursor to be sent next. */
    private int cursorPacket;

    /** The oldest sequence number without an answer. Those before {@code head}'s have left. */
    private int unacknowledged;

    /** The sequence number of the packet at the cursor. */
    private int next;

    /** The first sequence number that was never sent. */
    private int neverSent;

    private int packetsSinceRequest;
    private long chargedSinceRequest;

    /** Requests for READ and atomic responses that are under way. */
    private int readsUnderWay;

    /** READ and atomic work that is not complete. */
    private int readsIncomplete;

    /** What is charged to the path for what is under way, from {@code chargedFrom} on. */
    private final Path.Share charged = new Path.Share();

    private int chargedFrom;

    private int retriesLeft;
    private int notReadyRetriesLeft;

    /** Whether a loss was noticed and nothing got through since: what follows it is no news. */
    private boolean recovering;

    /** Whether the peer must be asked for an acknowledgement with the next packet. */
    private boolean askAtOnce;

    /** Whether there was no answer in time, nor since. */
    private boolean unanswered;

    /** Whether the peer asked to be left alone until the timer expires. */
    private boolean waiting;

    ReliableRequester(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.queue = queuePair.sends();
    }

    @Override
    public void start(SendParameters wanted) {
        parameters = wanted;
        unacknowledged = wanted.sequence();
        next = wanted.sequence();
        neverSent = wanted.sequence();
        chargedFrom = wanted.sequence();
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        readsUnderWay = 0;
        readsIncomplete = 0;
        recovering = false;
        askAtOnce = false;
        unanswered = false;
        waiting = false;
        retriesLeft = wanted.retries();
        notReadyRetriesLeft = wanted.notReadyRetries();
    }

    @Override
    public void change(SendParameters wanted) {
        parameters = wanted;
        retriesLeft = wanted.retries();
        notReadyRetriesLeft = wanted.notReadyRetries();
    }

    @Override
    public TransmitResult send() {
        if (waiting || !findWork()) {
            return TransmitResult.IDLE;
        }
        var work = queue.slot(cursor);
        if (work.failure != null
                || distance(unacknowledged, next) >= engine.options().window()
                || (work.operation.needsResponse() && readsUnderWay >= parameters.maxReads())) {
            return TransmitResult.IDLE;
        }
        var charge = charge(work);
        if (!obtainsRoom(work, charge)) {
            return TransmitResult.IDLE;
        }
        var packet = engine.claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        int sequenceNumbers;
        switch (work.operation) {
            case SEND, WRITE -> {
                if (!sendMessagePacket(work, packet, charge)) {
                    fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR);
                    return TransmitResult.IDLE;
                }
                sequenceNumbers = 1;
            }
            case READ -> sequenceNumbers = sendReadRequest(work, packet);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                sendAtomic(work, packet);
                sequenceNumbers = 1;
            }
            case ATOMIC_WRITE -> {
                if (!sendAtomicWrite(work, packet)) {
                    fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR);
                    return TransmitResult.IDLE;
                }
                sequenceNumbers = 1;
            }
            case FLUSH -> {
                sendFlush(work, packet);
                sequenceNumbers = 1;
            }
            default -> throw new IllegalStateException("operation " + work.operation);
        }
        if (queuePair.deadline == TimerQueue.NEVER
                || (hasNothingUnderWay() && !queuePair.path().isSilent())) {
            startTimer();
        }
        moveCursor(work, sequenceNumbers);
        queuePair.path().sent(charged, charge);
        return TransmitResult.SENT;
    }

    private boolean obtainsRoom(SendWork work, long charge) {
        var path = queuePair.path();
        if (unanswered && !path.leavesRoom(charged, charge)) {
            return false;
        }
        if (path.admits(queuePair, charged, charge)) {
            return true;
        }
        engine.awaitRoom(path);
        if (queuePair.deadline == TimerQueue.NEVER && path.isSilent()) {
            startTimer(); // what it would have sent is lost as that of the others
        }
        // Who waits for others without having asked for an answer may ask.
        askAtOnce |= chargedSinceRequest > 0;
        return chargedSinceRequest > 0 && !work.operation.needsResponse();
    }

    /** What the packet at the cursor, or what it asks for, is charged to the path. */
    private long charge(SendWork work) {
        var offset = (long) cursorPacket * queuePair.pathMtu();
        if (work.operation == SendOperation.READ) {
            var packets = endOfPart(work, cursorPacket) - cursorPacket;
            var bytes = Math.min(work.bytes() - offset, (long) packets * queuePair.pathMtu());
            return packets * Path.charge(0) + Path.charge(bytes);
        }
        return Path.charge(
                work.operation.isAtomic()
                        ? Long.BYTES
                        : Math.min(work.bytes() - offset, queuePair.pathMtu()));
    }

    /** Takes off what has been answered: of what is under way, in proportion. */
    private void acknowledgeCharge() {
        var answered = distance(chargedFrom, unacknowledged);
        var rest = Math.max(0, distance(unacknowledged, next));
        chargedFrom = unacknowledged;
        queuePair.path().acknowledged(charged, answered, answered + rest);
    }

    private void releaseCharge() {
        if (!charged.isNothing()) {
            queuePair.path().released(charged);
        }
        chargedFrom = unacknowledged;
    }

    /** Brings the cursor to work that has something to send. False if there is none. */
    private boolean findWork() {
        while (cursor < started || startWork()) {
            if (cursor < started) {
                var work = queue.slot(cursor);
                if (!work.operation.isLocal() || work.failure != null) {
                    return true;
                }
                cursor++; // it was done when its turn came
            }
        }
        return false;
    }

    /**
     * Gives the next work its sequence numbers; what is local has none, and is done. False if there
     * is no work, or it must wait.
     */
    private boolean startWork() {
        if (started == queue.tail() || queuePair.state() != QueuePairState.READY_TO_SEND) {
            return false;
        }
        var work = queue.slot(started);
        if (work.fence && readsIncomplete > 0) {
            return false;
        }
        work.failure = null;
        work.firstSequence = next;
        work.packets = 1;
        work.packetsReceived = 0;
        started++;
        var failure =
                work.operation.isLocal() ? work.execute(engine.memory(), queuePair) : check(work);
        if (failure != null) {
            fail(work, failure);
            return false;
        }
        if (work.operation.isLocal()) {
            work.packets = 0;
            completeLocal();
            return true;
        }
        if (!work.operation.isAtomic()) {
            work.packets = queuePair.packets(work.bytes());
        }
        if (work.operation.needsResponse()) {
            readsIncomplete++;
        }
        return true;
    }

    private @Nullable CompletionStatus check(SendWork work) {
        if (work.operation.needsResponse() && parameters.maxReads() == 0) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        if (work.bytes() > MessageLimits.MAX_BYTES
                || (work.operation.isAtomic() && work.bytes() < Long.BYTES)
                || (work.operation == SendOperation.ATOMIC_WRITE && work.bytes() != Long.BYTES)) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (!work.permitted(engine.memory(), queuePair.domain())) {
            return CompletionStatus.LOCAL_PROTECTION_ERROR;
        }
        return null;
    }

    /** Sends a packet of a SEND or WRITE. False if its memory may not be read any more. */
    private boolean sendMessagePacket(SendWork work, PacketBuffer packet, long charge) {
        // Often enough for the window never to close with the peer unaware, and at every end, for
        // a completion must not wait for the next message.
        packetsSinceRequest++;
        chargedSinceRequest += charge;
        var ask =
                askAtOnce
                        || cursorPacket == work.packets - 1
                        || packetsSinceRequest >= engine.options().window() / 4
                        || queuePair.path().asks(charge, chargedSinceRequest);
        if (!queuePair.sendMessagePacket(packet, work, cursorPacket, ask, next)) {
            return false;
        }
        if (ask) {
            packetsSinceRequest = 0;
            chargedSinceRequest = 0;
            askAtOnce = false;
        }
        return true;
    }

    /** Asks for the rest of the part of a READ at the cursor. Returns how many packets answer. */
    private int sendReadRequest(SendWork work, PacketBuffer packet) {
        var offset = (long) cursorPacket * queuePair.pathMtu();
        var end = endOfPart(work, cursorPacket);
        var bytes = Math.min(work.bytes(), (long) end * queuePair.pathMtu()) - offset;
        new RdmaHeader(work.remoteAddress + offset, work.remoteKey, (int) bytes)
                .encode(packet.memory(), queuePair.beginRequest(packet, work));
        queuePair.send(packet, opCode(Operation.READ_REQUEST), false, 0, true, next);
        readsUnderWay++;
        return end - cursorPacket;
    }

    /** The first packet behind the part of a READ that packet {@code index} belongs to. */
    private int endOfPart(SendWork work, int index) {
        var part = engine.options().readPackets();
        return Math.min(work.packets, (index / part + 1) * part);
    }

    private void sendAtomic(SendWork work, PacketBuffer packet) {
        var operation =
                work.operation == SendOperation.COMPARE_AND_SWAP
                        ? Operation.COMPARE_AND_SWAP
                        : Operation.FETCH_AND_ADD;
        new AtomicHeader(work.remoteAddress, work.remoteKey, work.swapOrAdd, work.compare)
                .encode(packet.memory(), queuePair.beginRequest(packet, work));
        queuePair.send(packet, opCode(operation), false, 0, true, next);
        readsUnderWay++;
    }

    private OpCode opCode(Operation operation) {
        return OpCode.of(queuePair.transport(), operation);
    }

    /** False if its memory may not be read any more. */
    private boolean sendAtomicWrite(SendWork work, PacketBuffer packet) {
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        if (!work.gather(
                engine.memory(),
                queuePair.domain(),
                0,
                packet.memory(),
                headers + RdmaHeader.BYTES,
                Long.BYTES)) {
            return false;
        }
        new RdmaHeader(work.remoteAddress, work.remoteKey, Long.BYTES)
                .encode(packet.memory(), headers);
        queuePair.send(packet, OpCode.RC_ATOMIC_WRITE, false, Long.BYTES, true, next);
        readsUnderWay++;
        return true;
    }

    private void sendFlush(SendWork work, PacketBuffer packet) {
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        new FlushHeader(work.flushPlacement, work.flushSelectivity)
                .encode(packet.memory(), headers);
        new RdmaHeader(work.remoteAddress, work.remoteKey, work.flushBytes)
                .encode(packet.memory(), headers + FlushHeader.BYTES);
        queuePair.send(packet, OpCode.RC_FLUSH, false, 0, true, next);
        readsUnderWay++;
    }

    private void moveCursor(SendWork work, int sequenceNumbers) {
        cursorPacket += sequenceNumbers;
        next = plus(next, sequenceNumbers);
        if (distance(neverSent, next) > 0) {
            neverSent = next;
        }
        if (cursorPacket == work.packets) {
            cursor++;
            cursorPacket = 0;
        }
    }

    @Override
    public void receive(IncomingPacket packet) {
        var sequence = packet.sequence();
        if (distance(unacknowledged, sequence) < 0 || distance(sequence, neverSent) <= 0) {
            return; // answered already, or never asked
        }
        unanswered = false;
        switch (packet.opCode().operation()) {
            case ACKNOWLEDGE -> acknowledge(packet);
            case READ_RESPONSE -> readResponse(packet);
            case ATOMIC_ACKNOWLEDGE -> atomicResponse(packet);
            default -> throw new IllegalStateException("not an answer: " + packet.opCode());
        }
    }

    private void acknowledge(IncomingPacket packet) {
        var sequence = packet.sequence();
        // Decoded apart from the refusals, which keep it: else the compiler, which does not look
        // into what happens seldom, allocates one for each acknowledgement.
        if (!packet.acknowledgement().isAcknowledgement()) {
            refused(packet.acknowledgement(), sequence);
        } else if (!advance(plus(sequence, 1))) {
            lost();
        }
    }

    private void refused(AcknowledgeHeader header, int sequence) {
        // A refusal acknowledges all before it. If a response is missing there, that comes first.
        if (!advance(sequence)) {
            lost();
            return;
        }
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        if (header.isReceiverNotReady()) {
            receiverNotReady(header.timerCode());
            return;
        }
        switch (header.syndrome()) {
            case AcknowledgeHeader.SEQUENCE_ERROR -> lost();
            case AcknowledgeHeader.INVALID_REQUEST ->
                    failHead(CompletionStatus.REMOTE_INVALID_REQUEST);
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR ->
                    failHead(CompletionStatus.REMOTE_ACCESS_ERROR);
            case AcknowledgeHeader.REMOTE_OPERATION_ERROR ->
                    failHead(CompletionStatus.REMOTE_OPERATION_ERROR);
            default -> failHead(CompletionStatus.BAD_RESPONSE);
        }
    }

    private void readResponse(IncomingPacket packet) {
        if (!advance(packet.sequence())) {
            lost();
            return;
        }
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        var work = queue.slot(head);
        if (work.operation.isAnsweredEmpty()
                && packet.payloadBytes() == 0
                && packet.opCode().position() == Position.ONLY) {
            answered();
            return;
        }
        if (work.operation != SendOperation.READ) {
            failHead(CompletionStatus.BAD_RESPONSE);
            return;
        }
        var index = work.packetsReceived;
        var offset = (long) index * queuePair.pathMtu();
        var expected = Math.min(queuePair.pathMtu(), work.bytes() - offset);
        var endOfPart = endOfPart(work, index);
        if (packet.payloadBytes() != expected
                || packet.opCode().position().ends() != (index + 1 == endOfPart)) {
            failHead(CompletionStatus.BAD_RESPONSE);
            return;
        }
        if (expected > 0
                && !work.buffers.scatter(
                        engine.memory(),
                        queuePair.domain(),
                        offset,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        expected)) {
            failHead(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        work.packetsReceived++;
        unacknowledged = plus(unacknowledged, 1);
        if (index + 1 == endOfPart) {
            responseComplete();
        }
        if (work.packetsReceived == work.packets) {
            readsIncomplete--;
            completeHead();
        }
        madeProgress();
    }

    private void atomicResponse(IncomingPacket packet) {
        if (!advance(packet.sequence())) {
            lost();
            return;
        }
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        var work = queue.slot(head);
        if (!work.operation.isAtomic()) {
            failHead(CompletionStatus.BAD_RESPONSE);
            return;
        }
        atomicResult.set(NATIVE_LONG, 0, packet.atomicResult().original());
        if (!work.buffers.scatter(
                engine.memory(), queuePair.domain(), 0, atomicResult, 0, Long.BYTES)) {
            failHead(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        answered();
    }

    /** The work at the head has all of its answer, of one packet. */
    private void answered() {
        unacknowledged = plus(unacknowledged, 1);
        responseComplete();
        readsIncomplete--;
        completeHead();
        madeProgress();
    }

    /** A response has come whole, up to {@code unacknowledged}. */
    private void responseComplete() {
        // One that came late, when the cursor had gone back before its request, is not under way.
        if (distance(unacknowledged, next) >= 0) {
            readsUnderWay--;
        }
    }

    /**
     * Takes all before {@code end} as acknowledged.
     *
     * @return false if a READ or atomic stands before it, whose response must then be lost
     */
    private boolean advance(int end) {
        var before = unacknowledged;
        var complete = true;
        while (distance(unacknowledged, end) > 0) {
            var work = queue.slot(head);
            if (work.operation.needsResponse()) {
                complete = false;
                break;
            }
            var endOfWork = plus(work.firstSequence, work.packets);
            if (distance(end, endOfWork) > 0) {
                unacknowledged = end;
                break;
            }
            unacknowledged = endOfWork;
            completeHead();
            if (queuePair.state() == QueuePairState.ERROR) {
                return true;
            }
        }
        if (unacknowledged != before) {
            madeProgress();
        }
        return complete;
    }

    private void completeHead() {
        complete();
        completeLocal();
    }

    /** Completes work at the head that is over already: what is local, and what has failed. */
    private void completeLocal() {
        while (head < started) {
            var work = queue.slot(head);
            if (work.failure != null) {
                failHead(work.failure);
                return;
            }
            if (!work.operation.isLocal()) {
                return;
            }
            if (cursor == head) {
                cursor++;
            }
            complete();
        }
    }

    private void complete() {
        var work = queue.slot(head);
        head++;
        queuePair.completeSend(work, CompletionStatus.SUCCESS);
        queue.release(head);
    }

    private void madeProgress() {
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        retriesLeft = parameters.retries();
        notReadyRetriesLeft = parameters.notReadyRetries();
        recovering = false;
        waiting = false;
        acknowledgeCharge();
        if (distance(next, unacknowledged) > 0) {
            moveCursorToUnacknowledged();
        }
        if (hasNothingUnderWay()) {
            engine.schedule(queuePair, TimerQueue.NEVER);
        } else {
            startTimer();
        }
    }

    private void moveCursorToUnacknowledged() {
        cursor = head;
        next = unacknowledged;
        cursorPacket =
                head == started ? 0 : distance(queue.slot(head).firstSequence, unacknowledged);
    }

    /**
     * Each retry without news waits longer, up to four times what was asked for, which the
     * specification allows: a peer in software answers when it is given a processor, and one that
     * is not for a while has not gone.
     */
    private void startTimer() {
        var timeout = parameters.timeoutNanos();
        var doublings = Math.min(MOST_DOUBLINGS, parameters.retries() - retriesLeft);
        engine.schedule(
                queuePair,
                timeout == Long.MAX_VALUE
                        ? TimerQueue.NEVER
                        : engine.now() + (timeout << doublings));
    }

    /**
     * Something did not arrive: goes back to it, once until something gets through. No news while
     * it waits for a receive: it has gone back already, and its timer must not be taken away.
     */
    private void lost() {
        if (!recovering && !waiting && queuePair.state() != QueuePairState.ERROR) {
            retry();
            recovering = true;
        }
    }

    private void retry() {
        if (retriesLeft == 0) {
            failHead(CompletionStatus.RETRIES_EXCEEDED);
            return;
        }
        retriesLeft--;
        queuePair.path().lost(engine.now());
        goBack();
    }

    private void goBack() {
        releaseCharge();
        moveCursorToUnacknowledged();
        readsUnderWay = 0;
        askAtOnce = true;
        // Starts again with the first packet sent: the link's congestion is no silence of the peer.
        engine.schedule(queuePair, TimerQueue.NEVER);
    }

    private void receiverNotReady(int timerCode) {
        if (waiting) {
            return; // the network has duplicated it
        }
        if (parameters.notReadyRetries() != SendParameters.FOR_EVER) {
            if (notReadyRetriesLeft == 0) {
                failHead(CompletionStatus.RECEIVER_NOT_READY_RETRIES_EXCEEDED);
                return;
            }
            notReadyRetriesLeft--;
        }
        goBack();
        waiting = true;
        engine.schedule(queuePair, engine.now() + ReceiverNotReadyTimer.nanos(timerCode));
    }

    @Override
    public void timerExpired() {
        if (waiting) {
            waiting = false;
        } else if (!hasNothingUnderWay() || queuePair.path().isSilent()) {
            recovering = false;
            unanswered = true;
            retry();
        }
    }

    private boolean hasNothingUnderWay() {
        return next == unacknowledged;
    }

    /** Completes work in error, when all before it is complete. */
    private void fail(SendWork work, CompletionStatus status) {
        work.failure = status;
        if (queue.slot(head) == work) {
            failHead(status);
        }
    }

    private void failHead(CompletionStatus status) {
        var work = queue.slot(head);
        head++;
        queuePair.completeSend(work, status);
        queue.release(head);
        queuePair.fail();
    }

    @Override
    public void flush() {
        releaseCharge();
        var end = queue.tail();
        while (head < end) {
            var work = queue.slot(head);
            head++;
            queuePair.completeSend(work, CompletionStatus.FLUSHED);
            queue.release(head);
        }
        started = head;
        cursor = head;
        cursorPacket = 0;
    }

    @Override
    public void reset() {
        releaseCharge();
        head = queue.tail();
        started = head;
        cursor = head;
        cursorPacket = 0;
        queue.release(head);
    }

    @Override
    public boolean isDrained() {
        return head == started;
    }
}
