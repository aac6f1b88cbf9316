package org.jrdma.soft.roce.engine;

import java.lang.invoke.VarHandle;
import org.jrdma.soft.roce.engine.ResponseQueue.Response;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.MemoryRegistry.Atomic;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;

/**
 * Executes the requests of a peer that are answered by more than an acknowledgement: READ, COMPARE
 * AND SWAP, FETCH AND ADD, ATOMIC WRITE and FLUSH; {@link ReliableResponder} itself executes SEND
 * and WRITE. Each method checks the rights of the queue pair and of the memory, writes the
 * description of the response to a {@link Response}, and returns the syndrome of the
 * acknowledgement.
 */
final class ReadAndAtomicExecutor {

    private final QueuePair queuePair;
    private final MemoryRegistry memory;
    private final long[] atomicResult = new long[1];

    ReadAndAtomicExecutor(QueuePair queuePair, MemoryRegistry memory) {
        this.queuePair = queuePair;
        this.memory = memory;
    }

    int execute(IncomingPacket packet, AccessIdentity accessor, Response response, int messages) {
        return switch (packet.opCode().operation()) {
            case READ_REQUEST -> read(packet, accessor, response, messages);
            case COMPARE_AND_SWAP ->
                    atomic(packet, Atomic.COMPARE_AND_SWAP, accessor, response, messages);
            case FETCH_AND_ADD ->
                    atomic(packet, Atomic.FETCH_AND_ADD, accessor, response, messages);
            case ATOMIC_WRITE -> atomicWrite(packet, accessor, response, messages);
            case FLUSH -> flush(packet, accessor, response, messages);
            default -> throw new IllegalStateException("Not a request: " + packet.opCode());
        };
    }

    private int read(
            IncomingPacket packet, AccessIdentity accessor, Response response, int messages) {
        var bytes = packet.rdmaLength();
        if (!queuePair.permits(Access.REMOTE_READ) || bytes > MessageLimits.MAX_BYTES) {
            return AcknowledgeHeader.INVALID_REQUEST;
        }
        if (bytes > 0
                && !memory.permits(
                        accessor,
                        packet.rdmaKey(),
                        packet.rdmaAddress(),
                        bytes,
                        Access.REMOTE_READ)) {
            return AcknowledgeHeader.REMOTE_ACCESS_ERROR;
        }
        describeRead(response, packet, accessor, bytes, messages);
        return AcknowledgeHeader.ACKNOWLEDGED;
    }

    /**
     * Describes in {@code response} a READ response of {@code bytes} bytes from the memory that the
     * request names.
     */
    private void describeRead(
            Response response,
            IncomingPacket packet,
            AccessIdentity accessor,
            long bytes,
            int messages) {
        response.read(
                packet.sequence(),
                queuePair.route().packets(bytes),
                accessor,
                packet.rdmaAddress(),
                packet.rdmaKey(),
                bytes,
                messages);
    }

    private int atomic(
            IncomingPacket packet,
            Atomic operation,
            AccessIdentity accessor,
            Response response,
            int messages) {
        var header = packet.atomic();
        if (!queuePair.permits(Access.REMOTE_ATOMIC) || (header.address() & Long.BYTES - 1) != 0) {
            return AcknowledgeHeader.INVALID_REQUEST;
        }
        if (!memory.atomic(
                accessor,
                header.key(),
                header.address(),
                operation,
                header.swapOrAdd(),
                header.compare(),
                atomicResult)) {
            return AcknowledgeHeader.REMOTE_ACCESS_ERROR;
        }
        response.atomic(packet.sequence(), atomicResult[0], messages);
        return AcknowledgeHeader.ACKNOWLEDGED;
    }

    private int atomicWrite(
            IncomingPacket packet, AccessIdentity accessor, Response response, int messages) {
        if (!queuePair.permits(Access.REMOTE_WRITE)
                || packet.rdmaLength() != Long.BYTES
                || packet.payloadBytes() != Long.BYTES
                || (packet.rdmaAddress() & Long.BYTES - 1) != 0) {
            return AcknowledgeHeader.INVALID_REQUEST;
        }
        if (!memory.writeAtomically(
                accessor,
                packet.rdmaKey(),
                packet.rdmaAddress(),
                packet.buffer().memory(),
                packet.payloadOffset())) {
            return AcknowledgeHeader.REMOTE_ACCESS_ERROR;
        }
        describeRead(response, packet, accessor, 0, messages);
        return AcknowledgeHeader.ACKNOWLEDGED;
    }

    /** Executes a FLUSH: makes all earlier writes of this connection visible to all threads. */
    private int flush(
            IncomingPacket packet, AccessIdentity accessor, Response response, int messages) {
        var flush = packet.flush();
        var right =
                switch (flush.placement()) {
                    case FlushHeader.GLOBAL -> Access.FLUSH_GLOBAL;
                    case FlushHeader.PERSISTENT -> Access.FLUSH_PERSISTENT;
                    case FlushHeader.GLOBAL | FlushHeader.PERSISTENT ->
                            Access.FLUSH_GLOBAL | Access.FLUSH_PERSISTENT;
                    default -> 0;
                };
        if (right == 0 || flush.selectivity() > FlushHeader.REGION || !queuePair.permits(right)) {
            return AcknowledgeHeader.INVALID_REQUEST;
        }
        var bytes = packet.rdmaLength();
        var permitted =
                flush.selectivity() == FlushHeader.REGION
                        ? memory.permitsAll(accessor, packet.rdmaKey(), right)
                        : memory.permits(
                                accessor, packet.rdmaKey(), packet.rdmaAddress(), bytes, right);
        if (!permitted) {
            return AcknowledgeHeader.REMOTE_ACCESS_ERROR;
        }
        VarHandle.fullFence();
        describeRead(response, packet, accessor, 0, messages);
        return AcknowledgeHeader.ACKNOWLEDGED;
    }
}
