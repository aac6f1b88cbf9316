package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.PacketSequence;
import org.jspecify.annotations.Nullable;

/**
 * Sends the work requests of an unreliable connection. A request is complete when its last packet
 * has been passed to the {@link NetworkPacketSender}.
 */
final class UnreliableRequester implements Requester {

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueue queue;
    private final RequestWriter writer;

    /** The index of the next packet to send within the oldest work request. */
    private int packet;

    private int sequence;

    UnreliableRequester(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.queue = queuePair.sends();
        this.writer = queuePair.newRequestWriter();
    }

    @Override
    public void start(SendParameters parameters) {
        sequence = parameters.sequence();
        packet = 0;
    }

    @Override
    public TransmitResult send() {
        SendWork work;
        while (true) {
            var head = queue.head();
            if (head == queue.tail()
                    || (packet == 0 && queuePair.state() != QueuePairState.READY_TO_SEND)) {
                return TransmitResult.IDLE;
            }
            work = queue.slot(head);
            if (packet > 0) {
                break;
            }
            var isLocal = work.operation.isLocal();
            var failure = isLocal ? work.execute(engine.memory(), queuePair) : check(work);
            if (failure != null) {
                fail(failure);
                return TransmitResult.IDLE;
            }
            if (!isLocal) {
                work.packets = queuePair.route().packets(work.bytes());
                break;
            }
            complete(work);
        }
        var buffer = queuePair.route().claim();
        if (buffer == null) {
            return TransmitResult.LINK_FULL;
        }
        if (!writer.sendMessage(buffer, work, packet, false, sequence)) {
            fail(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return TransmitResult.IDLE;
        }
        sequence = PacketSequence.plus(sequence, 1);
        packet++;
        if (packet == work.packets) {
            packet = 0;
            complete(work);
        }
        return TransmitResult.SENT;
    }

    private void complete(SendWork work) {
        queuePair.completions().completeSend(work, CompletionStatus.SUCCESS);
        queue.release(queue.head() + 1);
    }

    /** Returns the status with which a work request must fail, or null if it is valid. */
    private @Nullable CompletionStatus check(SendWork work) {
        if (work.operation.needsResponse()) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        if (work.bytes() > MessageLimits.MAX_BYTES) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        return work.permitted(engine.memory(), queuePair.domain())
                ? null
                : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }

    private void fail(CompletionStatus status) {
        queuePair.completions().completeSend(queue.slot(queue.head()), status);
        queue.release(queue.head() + 1);
        queuePair.failSending();
    }

    @Override
    public void flush() {
        packet = 0;
        queue.flush(queuePair.completions());
    }

    @Override
    public void reset() {
        packet = 0;
        queue.release(queue.tail());
    }

    @Override
    public boolean isDrained() {
        return packet == 0;
    }
}
