package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.ImmediateHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.PacketSequence;

/**
 * Sends the work requests of a datagram queue pair. Each datagram is one packet, and its request is
 * complete when the packet has been passed to the {@link NetworkPacketSender}.
 */
final class DatagramRequester implements Requester {

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueue queue;
    private int sequence;

    DatagramRequester(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.queue = queuePair.sends();
    }

    @Override
    public void start(SendParameters parameters) {
        sequence = parameters.sequence();
    }

    @Override
    public TransmitResult send() {
        var head = queue.head();
        if (head == queue.tail() || queuePair.state() != QueuePairState.READY_TO_SEND) {
            return TransmitResult.IDLE;
        }
        var work = queue.slot(head);
        if (work.operation != SendOperationKind.SEND) {
            return fail(work, CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        }
        if (work.bytes() > queuePair.route().pathMtu()) {
            return fail(work, CompletionStatus.LOCAL_LENGTH_ERROR);
        }
        var packet = queuePair.route().claim();
        if (packet == null) {
            return TransmitResult.LINK_FULL;
        }
        var opCode = work.hasImmediate ? OpCode.UD_SEND_ONLY_IMMEDIATE : OpCode.UD_SEND_ONLY;
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        var body = headers + opCode.headerBytes();
        var bytes = (int) work.bytes();
        if (bytes > 0
                && !work.gather(
                        engine.memory(), queuePair.domain(), 0, packet.memory(), body, bytes)) {
            return fail(work, CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
        // A queue key whose highest bit is set is privileged. A request with such a key is sent
        // with the queue key of the queue pair instead, because an unprivileged request may not
        // name a privileged key.
        var queueKey = work.queueKey < 0 ? queuePair.queueKey() : work.queueKey;
        new DatagramHeader(queueKey, queuePair.number()).encode(packet.memory(), headers);
        if (work.hasImmediate) {
            new ImmediateHeader(work.immediate)
                    .encode(packet.memory(), body - ImmediateHeader.BYTES);
        }
        queuePair
                .route()
                .send(
                        packet,
                        work.remote,
                        work.remoteQueuePair,
                        opCode,
                        work.solicited,
                        bytes,
                        false,
                        sequence);
        sequence = PacketSequence.plus(sequence, 1);
        queuePair.completions().completeSend(work, CompletionStatus.SUCCESS);
        queue.release(head + 1);
        return TransmitResult.SENT;
    }

    private TransmitResult fail(SendWork work, CompletionStatus status) {
        queuePair.completions().completeSend(work, status);
        queue.release(queue.head() + 1);
        queuePair.failSending();
        return TransmitResult.IDLE;
    }

    @Override
    public void flush() {
        queue.flush(queuePair.completions());
    }

    @Override
    public void reset() {
        queue.release(queue.tail());
    }

    @Override
    public boolean isDrained() {
        return true;
    }
}
