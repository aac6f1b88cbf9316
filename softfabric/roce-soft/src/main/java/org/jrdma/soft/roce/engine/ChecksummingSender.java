package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the source port and the ICRC to outgoing packets and passes the packets to the {@link
 * NetworkPacketSender}.
 */
final class ChecksummingSender {

    private final NetworkPacketSender packetSender;
    private final InvariantCrc checksum;

    ChecksummingSender(NetworkPacketSender packetSender, InvariantCrc checksum) {
        this.packetSender = packetSender;
        this.checksum = checksum;
    }

    /** Returns the buffer for the next packet, or null if none is free. */
    @Nullable PacketBuffer claim() {
        return packetSender.claim();
    }

    void send(PacketBuffer packet) {
        packet.sourcePort(PacketBuffer.UDP_PORT);
        checksum.seal(packet);
        packetSender.send(packet);
    }
}
