package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketSequence;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages over an unreliable connection. A message is dropped silently if one of its
 * packets is missing or the message is not permitted. A receive that was taken for a dropped
 * message is used for the next message.
 */
final class UnreliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;

    /**
     * True if {@link #receive} contains a receive that was taken from the queue and has not been
     * completed.
     */
    private boolean receiveTaken;

    /** The sequence number that is expected in the next packet. */
    private int expected;

    /**
     * The operation of the message whose packets are arriving. Null between messages, and while the
     * rest of a message is being dropped.
     */
    private @Nullable Operation inProgress;

    /** The number of bytes of the current message that have arrived. */
    private long received;

    private final IncomingWrite write;

    UnreliableResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.reporter = queuePair.completions();
        this.receive = new ReceiveWork(queuePair.receives().maxBuffers());
        this.write = new IncomingWrite(engine.memory());
    }

    @Override
    public void start(ReceiveParameters parameters) {
        reset();
        expected = parameters.sequence();
    }

    @Override
    public void receive(IncomingPacket packet) {
        var operation = packet.opCode().operation();
        var position = packet.opCode().position();
        var continues =
                !position.begins() && packet.sequence() == expected && inProgress == operation;
        expected = PacketSequence.plus(packet.sequence(), 1);
        if ((!continues && !position.begins()) || !queuePair.route().hasFittingLength(packet)) {
            inProgress = null;
            return;
        }
        if (position.begins()) {
            received = 0;
        }
        var taken = operation == Operation.SEND ? receiveSend(packet) : receiveWrite(packet);
        inProgress = taken && !position.ends() ? operation : null;
    }

    /** Receives a packet of a SEND. Returns false if the message must be dropped. */
    private boolean receiveSend(IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        if (!takeReceive() || received + bytes > receive.buffers.bytes()) {
            return false;
        }
        if (!receive.scatter(engine.memory(), queuePair.receives().domain(), received, packet)) {
            receiveTaken = false;
            reporter.failReceive(
                    reporter.receives(), receive, CompletionStatus.LOCAL_PROTECTION_ERROR);
            queuePair.fail();
            return false;
        }
        received += bytes;
        if (packet.opCode().position().ends()) {
            receiveTaken = false;
            reporter.completeReceive(
                    reporter.receives(), receive, CompletionKind.RECEIVE, packet, received);
        }
        return true;
    }

    /** Receives a packet of a WRITE. Returns false if the message must be dropped. */
    private boolean receiveWrite(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!queuePair.permits(Access.REMOTE_WRITE)) {
            return false;
        }
        if (position.begins()) {
            write.begin(packet);
        }
        var arrived = received + packet.payloadBytes();
        if (!write.fitsLength(position, arrived)
                || (position.begins() && !write.isPermitted(queuePair))) {
            return false;
        }
        var immediate = packet.opCode().hasImmediate();
        if (immediate && !takeReceive()) {
            return false;
        }
        if (!write.write(queuePair, received, packet)) {
            return false;
        }
        received = arrived;
        if (immediate) {
            receiveTaken = false;
            reporter.completeReceive(
                    reporter.receives(),
                    receive,
                    CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE,
                    packet,
                    write.bytes());
        }
        return true;
    }

    /**
     * Takes a receive from the queue, unless one is left from a dropped message. Returns false if
     * the queue is empty.
     */
    private boolean takeReceive() {
        if (!receiveTaken) {
            receiveTaken = queuePair.receives().take(receive);
        }
        return receiveTaken;
    }

    @Override
    public void flush() {
        inProgress = null;
        if (receiveTaken) {
            receiveTaken = false;
            reporter.failReceive(reporter.receives(), receive, CompletionStatus.FLUSHED);
        }
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {
        inProgress = null;
        receiveTaken = false;
    }
}
