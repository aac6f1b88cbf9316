package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.engine.ResponseQueue.Response;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.AtomicResultHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Position;
import org.jrdma.soft.roce.packet.Transport;

/** Sends the acknowledgements and responses of a reliable responder. */
final class ResponseSender {

    private static final int HEADERS = PacketBuffer.START + BaseTransportHeader.BYTES;

    private final PeerRoute route;
    private final MemoryRegistry memory;
    private final Transport transport;
    private final OpCode acknowledge;
    private final OpCode atomicAcknowledge;

    ResponseSender(PeerRoute route, MemoryRegistry memory, Transport transport) {
        this.route = route;
        this.memory = memory;
        this.transport = transport;
        this.acknowledge = OpCode.of(transport, Operation.ACKNOWLEDGE);
        this.atomicAcknowledge = OpCode.of(transport, Operation.ATOMIC_ACKNOWLEDGE);
    }

    /**
     * Sends the next packet of {@code response}, which is the first in the queue.
     *
     * @return false if a NAK was sent instead, because access to the memory of the READ is no
     *     longer permitted
     */
    boolean send(ResponseQueue responses, Response response, PacketBuffer packet) {
        if (response.isRead()) {
            return sendReadResponse(responses, response, packet);
        }
        encode(response.syndrome, response.messages, packet);
        var opCode = acknowledge;
        if (response.isAtomic()) {
            opCode = atomicAcknowledge;
            new AtomicResultHeader(response.original)
                    .encode(packet.memory(), HEADERS + AcknowledgeHeader.BYTES);
        }
        route.send(packet, opCode, false, 0, false, response.sequence);
        responses.removeFirst();
        return true;
    }

    private boolean sendReadResponse(
            ResponseQueue responses, Response response, PacketBuffer packet) {
        var index = response.nextPacket;
        var offset = (long) index * route.pathMtu();
        var bytes = (int) Math.min(route.pathMtu(), response.bytes - offset);
        var sequence = plus(response.sequence, index);
        var position = Position.of(index, response.packets);
        var opCode = OpCode.of(transport, Operation.READ_RESPONSE, position, false);
        if (bytes > 0
                && !memory.read(
                        response.accessor(),
                        response.key,
                        response.address + offset,
                        Access.REMOTE_READ,
                        packet.memory(),
                        HEADERS + opCode.headerBytes(),
                        bytes)) {
            if (response.repeated) {
                // The READ is a repeated request, which was probably duplicated by the network: the
                // memory is deregistered because the first response has arrived. A NAK would break
                // a working connection. If the peer has in fact not received the response, its
                // request times out.
                responses.removeFirst();
                return true;
            }
            encode(AcknowledgeHeader.REMOTE_ACCESS_ERROR, response.messages, packet);
            route.send(packet, acknowledge, false, 0, false, sequence);
            responses.clear();
            return false;
        }
        if (position != Position.MIDDLE) {
            encode(response.syndrome, response.messages, packet);
        }
        route.send(packet, opCode, false, bytes, false, sequence);
        if (response.packetSent()) {
            responses.removeFirst();
        }
        return true;
    }

    private static void encode(int syndrome, int messages, PacketBuffer packet) {
        AcknowledgeHeader.encode(packet.memory(), HEADERS, syndrome, messages);
    }
}
