package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.PacketSequence;

/**
 * Queue pair 1, which sends and receives management datagrams (GSI). It has no work queues: an
 * incoming datagram is passed to the agent immediately, and outgoing datagrams wait in a Java queue
 * until they are sent.
 */
final class ManagementQueuePair {

    /** The maximum number of outgoing datagrams that wait. Further datagrams are dropped. */
    private static final int MAX_WAITING = 4_096;

    private static final int PARTITION_KEY = 0xffff;
    private static final int PARTITION = 0x7fff;

    private final NetworkPacketSender sender;
    private final RoceGid local;
    private final ManagementAgent management;
    private final ArrayQueue<Outgoing> waiting = new ArrayQueue<>();
    private int sequence;

    private record Outgoing(RoceGid remote, MemorySegment datagram) {}

    ManagementQueuePair(NetworkPacketSender sender, RoceGid local, ManagementAgent management) {
        this.sender = sender;
        this.local = local;
        this.management = management;
    }

    ManagementAgent management() {
        return management;
    }

    /** Returns true if a packet addressed to queue pair 1 is a valid management datagram. */
    boolean expects(IncomingPacket packet) {
        return packet.opCode() == OpCode.UD_SEND_ONLY
                && (packet.partitionKey() & PARTITION) == PARTITION
                && packet.datagram()
                        .equals(
                                new DatagramHeader(
                                        ManagementAgent.QUEUE_KEY, ManagementAgent.QUEUE_PAIR));
    }

    void receive(IncomingPacket packet) {
        var buffer = packet.buffer();
        management.received(
                new RoceGid(buffer.sourceHigh(), buffer.sourceLow()),
                buffer.memory().asSlice(packet.payloadOffset(), packet.payloadBytes()));
    }

    /**
     * Queues an outgoing datagram, whose length must be a multiple of 4. Drops it if {@link
     * #MAX_WAITING} datagrams wait.
     */
    void post(RoceGid remote, MemorySegment datagram) {
        if (waiting.size() < MAX_WAITING) {
            waiting.addLast(new Outgoing(remote, datagram));
        }
    }

    /** Sends the queued datagrams. Returns false if the link has run out of buffers. */
    boolean send() {
        for (var next = waiting.peekFirst(); next != null; next = waiting.peekFirst()) {
            var packet = sender.claim();
            if (packet == null) {
                return false;
            }
            var _ = waiting.removeFirst();
            write(packet, next);
            sender.send(packet);
        }
        return true;
    }

    private void write(PacketBuffer packet, Outgoing next) {
        var memory = packet.memory();
        BaseTransportHeader.encode(
                memory,
                PacketBuffer.START,
                OpCode.UD_SEND_ONLY,
                false,
                0,
                PARTITION_KEY,
                ManagementAgent.QUEUE_PAIR,
                false,
                sequence);
        sequence = PacketSequence.plus(sequence, 1);
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        new DatagramHeader(ManagementAgent.QUEUE_KEY, ManagementAgent.QUEUE_PAIR)
                .encode(memory, headers);
        var bytes = next.datagram.byteSize();
        MemorySegment.copy(next.datagram, 0, memory, headers + DatagramHeader.BYTES, bytes);
        packet.length(BaseTransportHeader.BYTES + DatagramHeader.BYTES + (int) bytes);
        packet.flow(0);
        packet.addresses(local.high(), local.low(), next.remote.high(), next.remote.low());
    }
}
