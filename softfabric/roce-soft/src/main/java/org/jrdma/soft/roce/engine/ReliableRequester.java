package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Sends the work requests of a reliable connection. After a loss, it retransmits from the oldest
 * unacknowledged packet (go-back-N).
 *
 * <p>A READ uses as many sequence numbers as its response has packets. A READ whose response has
 * more packets than {@link EngineOptions#readPackets} is split into several requests. The
 * boundaries are multiples of that number even in a retransmission, so that a repeated request
 * always corresponds to one request that the responder has recorded.
 */
final class ReliableRequester implements Requester {

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueue queue;
    private final SendQueueProgress progress;
    private final CongestionWindowShare share;
    private final Retransmission retransmission;
    private final ResponseHandler responses;
    private final RequestWriter writer;

    ReliableRequester(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.queue = queuePair.sends();
        this.progress = new SendQueueProgress(queuePair);
        this.share = new CongestionWindowShare(queuePair, engine.options().window());
        this.retransmission = new Retransmission(engine, queuePair, progress, share);
        this.responses = new ResponseHandler(engine, queuePair, progress, retransmission);
        this.writer = queuePair.newRequestWriter();
    }

    @Override
    public void start(SendParameters parameters) {
        progress.start(parameters.sequence());
        share.start(parameters.sequence());
        retransmission.start(parameters);
    }

    @Override
    public void change(SendParameters parameters) {
        retransmission.change(parameters);
    }

    @Override
    public TransmitResult send() {
        if (retransmission.isWaitingForReceiver() || !findWork()) {
            return TransmitResult.IDLE;
        }
        var work = progress.atCursor();
        if (work.failure != null
                || distance(progress.unacknowledged, progress.next) >= engine.options().window()
                || (work.operation.needsResponse()
                        && progress.readsInFlight >= retransmission.maxReads())) {
            return TransmitResult.IDLE;
        }
        var charge = charge(work);
        if (!obtainsCapacity(work, charge)) {
            return TransmitResult.IDLE;
        }
        var packet = queuePair.route().claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        var first = progress.cursorPacket;
        var sequence = progress.next;
        var end = first + 1;
        var written = true;
        switch (work.operation) {
            case SEND, WRITE -> {
                var acknowledge = share.mustRequestAcknowledgement(charge, end == work.packets);
                written = writer.sendMessage(packet, work, first, acknowledge, sequence);
                if (written && acknowledge) {
                    share.acknowledgementRequested();
                }
            }
            case READ -> {
                end = work.endOfPart(first, engine.options().readPackets());
                writer.sendRead(packet, work, first, end, sequence);
            }
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> writer.sendAtomic(packet, work, sequence);
            case ATOMIC_WRITE -> written = writer.sendAtomicWrite(packet, work, sequence);
            case FLUSH -> writer.sendFlush(packet, work, sequence);
            default -> throw new IllegalStateException("Not a remote operation: " + work.operation);
        }
        if (!written) {
            progress.fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR);
            return TransmitResult.IDLE;
        }
        if (work.operation.needsResponse()) {
            progress.readsInFlight++;
        }
        retransmission.packetSent();
        progress.moveCursor(work, end - first);
        share.sent(charge);
        return TransmitResult.SENT;
    }

    /**
     * Returns true if the packet at the cursor may be sent. Otherwise, the queue pair waits until
     * its path has capacity for the packet, or until an answer arrives.
     */
    private boolean obtainsCapacity(SendWork work, long charge) {
        if (retransmission.isUnanswered() && !share.permitsUnanswered(charge)) {
            return false;
        }
        if (share.admits(charge)) {
            return true;
        }
        var path = queuePair.path();
        engine.awaitCapacity(path);
        if (queuePair.deadline == TimerQueue.NEVER && path.isSilent()) {
            // The path does not admit the packet, because the network would probably drop it. The
            // timer ensures that the work request fails if the peer remains silent.
            retransmission.startTimer();
        }
        // If the packets in flight have requested no acknowledgement, this packet is sent although
        // the window is full, and requests one. Otherwise the queue pair would wait for a timeout.
        return share.requestIfNoneRequested() && !work.operation.needsResponse();
    }

    /**
     * Returns the number of bytes by which the packet at the cursor increases the bytes in flight:
     * the length of the READ response, or of the packet itself.
     */
    private long charge(SendWork work) {
        var pathMtu = queuePair.route().pathMtu();
        var first = progress.cursorPacket;
        var offset = (long) first * pathMtu;
        if (work.operation == SendOperationKind.READ) {
            var packets = work.endOfPart(first, engine.options().readPackets()) - first;
            var bytes = Math.min(work.bytes() - offset, (long) packets * pathMtu);
            return packets * PathCongestionWindow.charge(0) + PathCongestionWindow.charge(bytes);
        }
        return PathCongestionWindow.charge(
                work.operation.isAtomic() ? Long.BYTES : Math.min(work.bytes() - offset, pathMtu));
    }

    /**
     * Moves the cursor to the next work request with an unsent packet, and starts further work
     * requests if necessary. Returns false if there is none.
     */
    private boolean findWork() {
        while (progress.cursor < progress.started || startWork()) {
            if (progress.cursor < progress.started) {
                var work = progress.atCursor();
                if (!work.operation.isLocal() || work.failure != null) {
                    return true;
                }
                // A local operation has no packet, and startWork has already executed it.
                progress.cursor++;
            }
        }
        return false;
    }

    /**
     * Starts the next work request: assigns its sequence numbers, or executes it if it is a local
     * operation. Returns false if the send queue is empty, or the work request must wait or has
     * failed.
     */
    private boolean startWork() {
        if (progress.started == queue.tail() || queuePair.state() != QueuePairState.READY_TO_SEND) {
            return false;
        }
        var work = queue.slot(progress.started);
        if (work.fence && progress.readsIncomplete > 0) {
            return false;
        }
        work.failure = null;
        work.firstSequence = progress.next;
        work.packets = 1;
        work.packetsReceived = 0;
        progress.started++;
        var failure =
                work.operation.isLocal() ? work.execute(engine.memory(), queuePair) : check(work);
        if (failure != null) {
            progress.fail(work, failure);
            return false;
        }
        if (work.operation.isLocal()) {
            work.packets = 0;
            progress.completeLocal();
            return true;
        }
        if (!work.operation.isAtomic()) {
            work.packets = queuePair.route().packets(work.bytes());
        }
        if (work.operation.needsResponse()) {
            progress.readsIncomplete++;
        }
        return true;
    }

    /** Returns the status with which a work request must fail, or null if it is valid. */
    private @Nullable CompletionStatus check(SendWork work) {
        if (work.operation.needsResponse() && retransmission.maxReads() == 0) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        if (work.bytes() > MessageLimits.MAX_BYTES
                || (work.operation.isAtomic() && work.bytes() < Long.BYTES)
                || (work.operation == SendOperationKind.ATOMIC_WRITE
                        && work.bytes() != Long.BYTES)) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        return work.permitted(engine.memory(), queuePair.domain())
                ? null
                : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }

    /**
     * Writes an empty WRITE with the sequence number of the last acknowledged request. The
     * responder takes it for a duplicate of that request, and acknowledges a duplicate without
     * comparing its content.
     */
    @Override
    public boolean probe(PacketBuffer buffer) {
        if (queuePair.transport() != Transport.RELIABLE || !queuePair.state().sends()) {
            return false;
        }
        writer.sendEmptyWrite(buffer, plus(progress.unacknowledged, -1));
        return true;
    }

    @Override
    public void receive(IncomingPacket packet) {
        responses.receive(packet);
    }

    @Override
    public void timerExpired() {
        retransmission.timerExpired();
    }

    @Override
    public void flush() {
        share.releaseAll(progress.unacknowledged);
        progress.flush();
    }

    @Override
    public void reset() {
        share.releaseAll(progress.unacknowledged);
        progress.reset();
    }

    @Override
    public boolean isDrained() {
        return progress.isDrained();
    }
}
