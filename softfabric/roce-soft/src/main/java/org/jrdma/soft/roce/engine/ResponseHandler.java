package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Position;

/**
 * Handles the packets with which a peer answers a reliable requester: acknowledgements, NAKs and
 * responses.
 */
final class ResponseHandler {

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueueProgress progress;
    private final Retransmission retransmission;
    private final MemorySegment atomicResult = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);

    ResponseHandler(
            Engine engine,
            QueuePair queuePair,
            SendQueueProgress progress,
            Retransmission retransmission) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.progress = progress;
        this.retransmission = retransmission;
    }

    void receive(IncomingPacket packet) {
        var sequence = packet.sequence();
        if (distance(progress.unacknowledged, sequence) < 0
                || distance(sequence, progress.neverSent) <= 0) {
            return; // The request was already answered, or was never sent.
        }
        retransmission.answered();
        switch (packet.opCode().operation()) {
            case ACKNOWLEDGE -> acknowledge(packet);
            case READ_RESPONSE -> readResponse(packet);
            case ATOMIC_ACKNOWLEDGE -> atomicResponse(packet);
            default -> throw new IllegalStateException("Not an answer: " + packet.opCode());
        }
    }

    private void acknowledge(IncomingPacket packet) {
        var sequence = packet.sequence();
        if (!packet.isAcknowledged()) {
            rejected(packet.acknowledgement(), sequence);
        } else if (!advance(plus(sequence, 1))) {
            retransmission.lost();
        }
    }

    private void rejected(AcknowledgeHeader header, int sequence) {
        if (!advancesTo(sequence)) {
            return;
        }
        if (header.isReceiverNotReady()) {
            retransmission.receiverNotReady(header.timerCode());
            return;
        }
        switch (header.syndrome()) {
            case AcknowledgeHeader.SEQUENCE_ERROR -> retransmission.lost();
            case AcknowledgeHeader.INVALID_REQUEST ->
                    progress.failHead(CompletionStatus.REMOTE_INVALID_REQUEST);
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR ->
                    progress.failHead(CompletionStatus.REMOTE_ACCESS_ERROR);
            case AcknowledgeHeader.REMOTE_OPERATION_ERROR ->
                    progress.failHead(CompletionStatus.REMOTE_OPERATION_ERROR);
            default -> progress.failHead(CompletionStatus.BAD_RESPONSE);
        }
    }

    /**
     * Treats all request packets before {@code sequence} as acknowledged. Returns false if the
     * answer with that sequence number must be ignored, because the response to an earlier request
     * was lost or the queue pair is in the error state.
     */
    private boolean advancesTo(int sequence) {
        if (!advance(sequence)) {
            retransmission.lost();
            return false;
        }
        return queuePair.state() != QueuePairState.ERROR;
    }

    private void readResponse(IncomingPacket packet) {
        if (!advancesTo(packet.sequence())) {
            return;
        }
        var work = progress.atHead();
        if (work.operation.hasEmptyResponse()
                && packet.payloadBytes() == 0
                && packet.opCode().position() == Position.ONLY) {
            completeSinglePacketResponse();
            return;
        }
        if (work.operation != SendOperationKind.READ) {
            progress.failHead(CompletionStatus.BAD_RESPONSE);
            return;
        }
        var pathMtu = queuePair.route().pathMtu();
        var index = work.packetsReceived;
        var offset = (long) index * pathMtu;
        var expected = Math.min(pathMtu, work.bytes() - offset);
        var endOfPart = work.endOfPart(index, engine.options().readPackets());
        if (packet.payloadBytes() != expected
                || packet.opCode().position().ends() != (index + 1 == endOfPart)) {
            progress.failHead(CompletionStatus.BAD_RESPONSE);
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
            progress.failHead(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        work.packetsReceived++;
        progress.unacknowledged = plus(progress.unacknowledged, 1);
        if (index + 1 == endOfPart) {
            responseComplete();
        }
        if (work.packetsReceived == work.packets) {
            progress.readsIncomplete--;
            progress.completeHead();
        }
        retransmission.madeProgress();
    }

    private void atomicResponse(IncomingPacket packet) {
        if (!advancesTo(packet.sequence())) {
            return;
        }
        var work = progress.atHead();
        if (!work.operation.isAtomic()) {
            progress.failHead(CompletionStatus.BAD_RESPONSE);
            return;
        }
        atomicResult.set(ValueLayout.JAVA_LONG, 0, packet.atomicResult().original());
        if (!work.buffers.scatter(
                engine.memory(), queuePair.domain(), 0, atomicResult, 0, Long.BYTES)) {
            progress.failHead(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return;
        }
        completeSinglePacketResponse();
    }

    /**
     * Completes the work request at the head of the window, whose response consists of one packet.
     */
    private void completeSinglePacketResponse() {
        progress.unacknowledged = plus(progress.unacknowledged, 1);
        responseComplete();
        progress.readsIncomplete--;
        progress.completeHead();
        retransmission.madeProgress();
    }

    /** Records that all packets of the response to one READ request or atomic have arrived. */
    private void responseComplete() {
        // After a retransmission has started, the cursor may be before the request of a late
        // response. The request is then no longer counted as in flight.
        if (distance(progress.unacknowledged, progress.next) >= 0) {
            progress.readsInFlight--;
        }
    }

    /**
     * Treats all request packets before {@code end} as acknowledged.
     *
     * @return false if a request that needs a response is among them. An acknowledgement does not
     *     replace a response, so that response must have been lost
     */
    private boolean advance(int end) {
        var before = progress.unacknowledged;
        var complete = true;
        while (distance(progress.unacknowledged, end) > 0) {
            var work = progress.atHead();
            if (work.operation.needsResponse()) {
                complete = false;
                break;
            }
            var endOfWork = plus(work.firstSequence, work.packets);
            if (distance(end, endOfWork) > 0) {
                progress.unacknowledged = end;
                break;
            }
            progress.unacknowledged = endOfWork;
            progress.completeHead();
            if (queuePair.state() == QueuePairState.ERROR) {
                return true;
            }
        }
        if (progress.unacknowledged != before) {
            retransmission.madeProgress();
        }
        return complete;
    }
}
