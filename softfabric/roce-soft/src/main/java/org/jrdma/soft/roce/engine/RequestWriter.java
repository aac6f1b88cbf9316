package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.ImmediateHeader;
import org.jrdma.soft.roce.packet.InvalidateHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Position;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.packet.XrcHeader;

/** Writes and sends the request packets of a connected queue pair. */
final class RequestWriter {

    private static final int HEADERS = PacketBuffer.START + BaseTransportHeader.BYTES;

    private final PeerRoute route;
    private final MemoryRegistry memory;
    private final ProtectionDomain domain;
    private final Transport transport;

    RequestWriter(
            PeerRoute route, MemoryRegistry memory, ProtectionDomain domain, Transport transport) {
        this.route = route;
        this.memory = memory;
        this.domain = domain;
        this.transport = transport;
    }

    /**
     * Writes the extended transport header with which requests over XRC connections start. Does
     * nothing for other transports. Returns the offset of the next header.
     */
    private int begin(PacketBuffer packet, SendWork work) {
        if (transport != Transport.EXTENDED) {
            return HEADERS;
        }
        new XrcHeader(work.receiveQueue).encode(packet.memory(), HEADERS);
        return HEADERS + XrcHeader.BYTES;
    }

    /**
     * Sends one packet of a SEND or WRITE.
     *
     * @param index the index of the packet in the message
     * @return false if the local memory may not be read; no packet was sent
     */
    boolean sendMessage(
            PacketBuffer packet, SendWork work, int index, boolean acknowledge, int sequence) {
        var offset = (long) index * route.pathMtu();
        var payload = (int) Math.min(route.pathMtu(), work.bytes() - offset);
        var position = Position.of(index, work.packets);
        var operation = work.operation == SendOperationKind.SEND ? Operation.SEND : Operation.WRITE;
        var immediate = work.hasImmediate && position.ends();
        var invalidates = work.invalidates && position.ends();
        var opCode =
                invalidates
                        ? OpCode.invalidating(transport, position)
                        : OpCode.of(transport, operation, position, immediate);
        var target = packet.memory();
        var headers = begin(packet, work);
        var body = HEADERS + opCode.headerBytes();
        if (payload > 0 && !work.gather(memory, domain, offset, target, body, payload)) {
            return false;
        }
        if (operation == Operation.WRITE && position.begins()) {
            RdmaHeader.encode(
                    target, headers, work.remoteAddress, work.remoteKey, (int) work.bytes());
        }
        if (immediate) {
            new ImmediateHeader(work.immediate).encode(target, body - ImmediateHeader.BYTES);
        }
        if (invalidates) {
            new InvalidateHeader(work.invalidatedKey).encode(target, body - InvalidateHeader.BYTES);
        }
        // Only a completion of the peer can be solicited, and a WRITE without immediate data
        // creates none.
        var solicited =
                work.solicited
                        && position.ends()
                        && (operation == Operation.SEND || work.hasImmediate);
        route.send(packet, opCode, solicited, payload, acknowledge, sequence);
        return true;
    }

    /** Sends a WRITE of 0 bytes that requests an acknowledgement. */
    void sendEmptyWrite(PacketBuffer packet, int sequence) {
        RdmaHeader.encode(packet.memory(), HEADERS, 0, 0, 0);
        route.send(packet, OpCode.RC_WRITE_ONLY, false, 0, true, sequence);
    }

    /**
     * Sends a READ request for the response packets from index {@code first} to {@code end}
     * (exclusive).
     */
    void sendRead(PacketBuffer packet, SendWork work, int first, int end, int sequence) {
        var offset = (long) first * route.pathMtu();
        var bytes = Math.min(work.bytes(), (long) end * route.pathMtu()) - offset;
        var headers = begin(packet, work);
        RdmaHeader.encode(
                packet.memory(), headers, work.remoteAddress + offset, work.remoteKey, (int) bytes);
        var opCode = OpCode.of(transport, Operation.READ_REQUEST);
        route.send(packet, opCode, false, 0, true, sequence);
    }

    /** Sends a COMPARE AND SWAP or FETCH AND ADD. */
    void sendAtomic(PacketBuffer packet, SendWork work, int sequence) {
        var operation =
                work.operation == SendOperationKind.COMPARE_AND_SWAP
                        ? Operation.COMPARE_AND_SWAP
                        : Operation.FETCH_AND_ADD;
        new AtomicHeader(work.remoteAddress, work.remoteKey, work.swapOrAdd, work.compare)
                .encode(packet.memory(), begin(packet, work));
        route.send(packet, OpCode.of(transport, operation), false, 0, true, sequence);
    }

    /**
     * Sends an ATOMIC WRITE.
     *
     * @return false if the local memory may not be read; no packet was sent
     */
    boolean sendAtomicWrite(PacketBuffer packet, SendWork work, int sequence) {
        var body = HEADERS + RdmaHeader.BYTES;
        if (!work.gather(memory, domain, 0, packet.memory(), body, Long.BYTES)) {
            return false;
        }
        RdmaHeader.encode(packet.memory(), HEADERS, work.remoteAddress, work.remoteKey, Long.BYTES);
        route.send(packet, OpCode.RC_ATOMIC_WRITE, false, Long.BYTES, true, sequence);
        return true;
    }

    void sendFlush(PacketBuffer packet, SendWork work, int sequence) {
        new FlushHeader(work.flushPlacement, work.flushSelectivity)
                .encode(packet.memory(), HEADERS);
        RdmaHeader.encode(
                packet.memory(),
                HEADERS + FlushHeader.BYTES,
                work.remoteAddress,
                work.remoteKey,
                work.flushBytes);
        route.send(packet, OpCode.RC_FLUSH, false, 0, true, sequence);
    }
}
