package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketSequence;
import org.jspecify.annotations.Nullable;

/**
 * Takes messages over an unreliable connection. One that misses a packet or may not be carried out
 * is dropped without a word, and a receive taken for it serves the next.
 */
final class UnreliableResponder implements Responder {

    private final Engine engine;
    private final QueuePair queuePair;
    private final CompletionReporter reporter;
    private final ReceiveWork receive;

    /** Whether {@code receive} was taken from the queue and not completed. */
    private boolean receiveTaken;

    private int expected;

    /** What the message under way is; null between messages and while one is dropped. */
    private @Nullable Operation underWay;

    private long received;
    private long writeAddress;
    private int writeKey;
    private long writeBytes;

    UnreliableResponder(Engine engine, QueuePair queuePair) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.reporter = queuePair.completions();
        this.receive = new ReceiveWork(queuePair.receives().maxBuffers());
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
                !position.begins() && packet.sequence() == expected && underWay == operation;
        expected = PacketSequence.plus(packet.sequence(), 1);
        if ((!continues && !position.begins()) || !queuePair.link().hasFittingLength(packet)) {
            underWay = null;
            return;
        }
        if (position.begins()) {
            received = 0;
        }
        var taken = operation == Operation.SEND ? send(packet) : write(packet);
        underWay = taken && !position.ends() ? operation : null;
    }

    /** False if the message is dropped. */
    private boolean send(IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        if (!takeReceive() || received + bytes > receive.buffers.bytes()) {
            return false;
        }
        if (bytes > 0
                && !receive.buffers.scatter(
                        engine.memory(),
                        queuePair.receives().domain(),
                        received,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        bytes)) {
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

    /** False if the message is dropped. */
    private boolean write(IncomingPacket packet) {
        var position = packet.opCode().position();
        if (!queuePair.permits(Access.REMOTE_WRITE)) {
            return false;
        }
        if (position.begins()) {
            var header = packet.rdma();
            writeAddress = header.address();
            writeKey = header.key();
            writeBytes = Integer.toUnsignedLong(header.length());
        }
        var bytes = packet.payloadBytes();
        var arrived = received + bytes;
        if (writeBytes > MessageLimits.MAX_BYTES
                || (position.ends() ? arrived != writeBytes : arrived >= writeBytes)) {
            return false;
        }
        var memory = engine.memory();
        if (position.begins()
                && writeBytes > 0
                && !memory.permits(
                        queuePair, writeKey, writeAddress, writeBytes, Access.REMOTE_WRITE)) {
            return false;
        }
        var immediate = packet.opCode().hasImmediate();
        if (immediate && !takeReceive()) {
            return false;
        }
        if (bytes > 0
                && !memory.write(
                        queuePair,
                        writeKey,
                        writeAddress + received,
                        Access.REMOTE_WRITE,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        bytes)) {
            return false;
        }
        received = arrived;
        if (immediate) {
            receiveTaken = false;
            reporter.completeReceive(
                    reporter.receives(),
                    receive,
                    CompletionKind.RECEIVE_WRITE_IMMEDIATE,
                    packet,
                    writeBytes);
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
        underWay = null;
        if (receiveTaken) {
            receiveTaken = false;
            reporter.failReceive(reporter.receives(), receive, CompletionStatus.FLUSHED);
        }
        queuePair.flushReceives(receive);
    }

    @Override
    public void reset() {
        underWay = null;
        receiveTaken = false;
    }
}
