package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketSequence;
import org.jspecify.annotations.Nullable;

/**
 * Receives messages over an unreliable connection. A message that misses a packet or is not
 * permitted is dropped silently. A receive taken for it is used for the next message.
 */
final class UnreliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;

    /** True if {@code receive} was taken from the queue and not completed. */
    private boolean receiveTaken;

    private int expected;

    /**
     * The operation of the message that is arriving; null between messages and while one is
     * dropped.
     */
    private @Nullable Operation inProgress;

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
        if ((!continues && !position.begins()) || !queuePair.link().hasFittingLength(packet)) {
            inProgress = null;
            return;
        }
        if (position.begins()) {
            received = 0;
        }
        var taken = operation == Operation.SEND ? receiveSend(packet) : receiveWrite(packet);
        inProgress = taken && !position.ends() ? operation : null;
    }

    /** Returns false if the message is dropped. */
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

    /** Returns false if the message is dropped. */
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
