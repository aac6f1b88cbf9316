package org.jrdma.soft.roce.engine;

import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The route from a queue pair to its peer: both addresses, the number of the remote queue pair, the
 * partition key and the path MTU. Writes the base transport header of outgoing packets and sends
 * the packets.
 */
final class PeerRoute {

    private static final int FULL_MEMBER = 0x8000;

    private final NetworkPacketSender sender;
    private RoceGid local = new RoceGid(0, 0);
    private RoceGid remote = local;
    private int flow;
    private int remoteNumber;
    private int partitionKey;
    private int pathMtu;

    PeerRoute(NetworkPacketSender sender) {
        this.sender = sender;
    }

    void connect(ReceiveParameters parameters) {
        local = parameters.local();
        remote(parameters.remote(), parameters.flow());
        remoteNumber = parameters.remoteQueuePair();
        pathMtu = parameters.pathMtu();
    }

    void partitionKey(int key) {
        partitionKey = key;
    }

    RoceGid remote() {
        return remote;
    }

    /** Changes the address of the peer, and the traffic class and flow label of packets to it. */
    void remote(RoceGid peer, int newFlow) {
        remote = peer;
        flow = newFlow;
    }

    int remoteNumber() {
        return remoteNumber;
    }

    int pathMtu() {
        return pathMtu;
    }

    /** Returns the number of packets into which a message of {@code bytes} bytes is split. */
    int packets(long bytes) {
        return bytes == 0 ? 1 : (int) ((bytes + pathMtu - 1) / pathMtu);
    }

    /**
     * Returns true if a partition key from a packet names the partition of this queue pair, and at
     * least one of the two keys is that of a full member.
     */
    boolean matchesPartition(int key) {
        return ((key ^ partitionKey) & ~FULL_MEMBER & 0xffff) == 0
                && ((key | partitionKey) & FULL_MEMBER) != 0;
    }

    /** Returns true if a packet was sent from the peer's address to the local address. */
    boolean isFromPeer(PacketBuffer buffer) {
        return buffer.sourceHigh() == remote.high()
                && buffer.sourceLow() == remote.low()
                && buffer.destinationHigh() == local.high()
                && buffer.destinationLow() == local.low();
    }

    /**
     * Returns true if the payload of a SEND or WRITE packet has a valid length for its position in
     * the message.
     */
    boolean hasFittingLength(IncomingPacket packet) {
        var bytes = packet.payloadBytes();
        return switch (packet.opCode().position()) {
            case FIRST, MIDDLE -> bytes == pathMtu;
            case LAST -> bytes >= 1 && bytes <= pathMtu;
            case ONLY -> bytes <= pathMtu;
        };
    }

    /** Returns the buffer for the next packet, or null if none is free. */
    @Nullable PacketBuffer claim() {
        return sender.claim();
    }

    /**
     * Sends a packet to the connected peer. The buffer already contains the payload and all headers
     * except the base transport header.
     */
    void send(
            PacketBuffer buffer,
            OpCode opCode,
            boolean solicited,
            int payloadBytes,
            boolean acknowledge,
            int sequence) {
        send(buffer, remote, remoteNumber, opCode, solicited, payloadBytes, acknowledge, sequence);
    }

    /**
     * Sends a packet to a given queue pair, which need not be the connected peer. Datagrams need
     * this. The buffer already contains the payload and all headers except the base transport
     * header.
     */
    void send(
            PacketBuffer buffer,
            RoceGid destination,
            int destinationNumber,
            OpCode opCode,
            boolean solicited,
            int payloadBytes,
            boolean acknowledge,
            int sequence) {
        var padding = -payloadBytes & 3;
        var memory = buffer.memory();
        BaseTransportHeader.encode(
                memory,
                PacketBuffer.START,
                opCode,
                solicited,
                padding,
                partitionKey,
                destinationNumber,
                acknowledge,
                sequence);
        var length = BaseTransportHeader.BYTES + opCode.headerBytes() + payloadBytes;
        for (var i = 0; i < padding; i++) {
            memory.set(ValueLayout.JAVA_BYTE, PacketBuffer.START + length + i, (byte) 0);
        }
        buffer.length(length + padding);
        buffer.flow(flow);
        buffer.addresses(local.high(), local.low(), destination.high(), destination.low());
        sender.send(buffer);
    }
}
