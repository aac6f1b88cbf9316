package org.jrdma.soft.roce.model;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A packet that was sent, dropped by {@link NetworkFaults}, or received.
 *
 * @param operation the name of the opcode, such as {@code RC_WRITE_FIRST}, or {@code MALFORMED} for
 *     bytes that are not a packet; the numeric components are 0 then
 * @param destinationQueuePair the number of the destination queue pair
 * @param sequence the packet sequence number (PSN)
 * @param acknowledge true if the packet requests an acknowledgement
 * @param solicited true if the receiver's completion raises a solicited event
 * @param payloadBytes the length of the payload in bytes
 * @param detail the content of an acknowledgement, such as {@code ACK} or {@code NAK sequence
 *     error}; the name of a connection manager message, such as {@code REQ}; the error of a
 *     malformed packet; otherwise empty
 * @param bytes the packet after the UDP header; valid only during the call of the listener
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

    /** The direction of a packet. */
    public enum Direction {
        /** Sent to a peer. */
        SENT,
        /** Dropped by {@link NetworkFaults} instead of being sent. */
        LOST,
        /** Received from a peer. */
        RECEIVED
    }

    /** Returns a line for a log. */
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
