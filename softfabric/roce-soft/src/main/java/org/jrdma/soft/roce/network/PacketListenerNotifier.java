package org.jrdma.soft.roce.network;

import java.time.Instant;
import org.jrdma.soft.roce.connection.Message;
import org.jrdma.soft.roce.engine.ManagementAgent;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.HeaderKind;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.MalformedPacketException;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decodes packets and passes the descriptions to a {@link PacketListener}. */
final class PacketListenerNotifier {

    private static final Logger LOG = LoggerFactory.getLogger(PacketListenerNotifier.class);

    /** A packet without fields, which supplies the values for malformed packets. */
    private static final IncomingPacket EMPTY = new IncomingPacket();

    private final PacketListener listener;
    private final IncomingPacket decoded = new IncomingPacket();
    private boolean failed;

    PacketListenerNotifier(PacketListener listener) {
        this.listener = listener;
    }

    void sent(PacketBuffer packet) {
        report(TracedPacket.Direction.SENT, packet);
    }

    void lost(PacketBuffer packet) {
        report(TracedPacket.Direction.LOST, packet);
    }

    void received(PacketBuffer packet) {
        report(TracedPacket.Direction.RECEIVED, packet);
    }

    private void report(TracedPacket.Direction direction, PacketBuffer packet) {
        try {
            listener.seen(trace(direction, packet));
        } catch (Throwable e) {
            // Errors are caught, too: a failing listener must not affect the packet.
            if (!failed) {
                failed = true;
                LOG.warn(
                        "The packet listener {} failed. Further failures are not logged.",
                        listener,
                        e);
            }
        }
    }

    private TracedPacket trace(TracedPacket.Direction direction, PacketBuffer packet) {
        String operation;
        var detail = "";
        var fields = decoded;
        try {
            decoded.decode(packet);
            operation = decoded.opCode().name();
            if (decoded.opCode().has(HeaderKind.ACKNOWLEDGE)) {
                detail = describe(decoded.acknowledgement());
            } else if (decoded.destinationQueuePair() == ManagementAgent.QUEUE_PAIR) {
                detail =
                        Message.name(
                                packet.memory()
                                        .asSlice(decoded.payloadOffset(), decoded.payloadBytes()));
            }
        } catch (MalformedPacketException e) {
            operation = "MALFORMED";
            detail = e.getMessage();
            fields = EMPTY;
        }
        return new TracedPacket(
                direction,
                Instant.now(),
                new RoceGid(packet.sourceHigh(), packet.sourceLow()).inet(),
                packet.sourcePort(),
                new RoceGid(packet.destinationHigh(), packet.destinationLow()).inet(),
                PacketBuffer.UDP_PORT,
                operation,
                fields.destinationQueuePair(),
                fields.sequence(),
                fields.acknowledge(),
                fields.solicited(),
                fields.payloadBytes(),
                detail,
                packet.memory()
                        .asSlice(packet.start(), packet.length())
                        .asByteBuffer()
                        .asReadOnlyBuffer());
    }

    private static String describe(AcknowledgeHeader header) {
        if (header.isAcknowledgement()) {
            return "ACK";
        }
        if (header.isReceiverNotReady()) {
            return "RNR NAK, timer " + header.timerCode();
        }
        return switch (header.syndrome()) {
            case AcknowledgeHeader.SEQUENCE_ERROR -> "NAK sequence error";
            case AcknowledgeHeader.INVALID_REQUEST -> "NAK invalid request";
            case AcknowledgeHeader.REMOTE_ACCESS_ERROR -> "NAK remote access error";
            case AcknowledgeHeader.REMOTE_OPERATION_ERROR -> "NAK remote operational error";
            default -> "syndrome 0x%02x".formatted(header.syndrome());
        };
    }
}
