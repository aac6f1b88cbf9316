package org.jrdma.soft.roce;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A packet as it was sent, lost or came in.
 *
 * @param operation the opcode, as {@code RC_WRITE_FIRST}; {@code MALFORMED} for bytes that are no
 *     packet, whose numbers are then 0
 * @param destinationQueuePair the number of the queue pair it is for
 * @param sequence its packet sequence number (PSN)
 * @param acknowledge whether it asks for an acknowledgement
 * @param solicited whether its receiver's completion should wake those who wait for solicited ones
 * @param payloadBytes how much of a message it carries
 * @param detail what an acknowledgement says, as {@code ACK} or {@code NAK sequence error}; the
 *     name of a message between connection managers, as {@code REQ}; what is wrong with bytes that
 *     are no packet; else empty
 * @param bytes all of it behind the UDP header. Valid during the call only: copy what is kept
 */
public record TracedPacket(
        Direction direction,
        Instant time,
        InetAddress source,
        int sourcePort,
        InetAddress destination,
        int destinationPort,
        String operation,
        int destinationQueuePair,
        int sequence,
        boolean acknowledge,
        boolean solicited,
        int payloadBytes,
        String detail,
        ByteBuffer bytes) {

    /** Which way a packet goes. */
    public enum Direction {
        /** To a peer. */
        SENT,
        /** To a peer, but {@link Trouble} let it go nowhere. */
        LOST,
        /** From a peer. */
        RECEIVED
    }

    /** One line, as a log would have it. */
    @Override
    public String toString() {
        return "%s %s -> %s %s qp 0x%06x psn 0x%06x %d bytes%s%s%s"
                .formatted(
                        direction,
                        source.getHostAddress(),
                        destination.getHostAddress(),
                        operation,
                        destinationQueuePair,
                        sequence,
                        payloadBytes,
                        acknowledge ? " ack-request" : "",
                        solicited ? " solicited" : "",
                        detail.isEmpty() ? "" : " " + detail);
    }
}
