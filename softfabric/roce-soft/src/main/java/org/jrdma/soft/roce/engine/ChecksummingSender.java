package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the source port and, if necessary, the ICRC to outgoing packets and passes the packets to
 * the {@link NetworkPacketSender}.
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
        if (packetSender.needsChecksum(packet)) {
            checksum.seal(packet);
        } else {
            InvariantCrc.omit(packet);
        }
        packetSender.send(packet);
    }
}
