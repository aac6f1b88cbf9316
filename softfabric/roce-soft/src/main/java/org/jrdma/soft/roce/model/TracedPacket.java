package org.jrdma.soft.roce.model;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Instant;

/**
 * A packet that a software device has sent or received, or that {@link NetworkFaults} have dropped.
 *
 * @param operation the name of the opcode, such as {@code RC_WRITE_FIRST}; or {@code MALFORMED} for
 *     bytes that cannot be decoded, in which case {@code destinationQueuePair}, {@code sequence}
 *     and {@code payloadBytes} are 0
 * @param destinationQueuePair the number of the destination queue pair
 * @param sequence the packet sequence number (PSN)
 * @param acknowledge true if the packet requests an acknowledgement
 * @param solicited true if the receiver's completion raises a solicited event
 * @param payloadBytes the length of the payload in bytes
 * @param detail the content of an acknowledgement, such as {@code ACK} or {@code NAK sequence
 *     error}; the name of a connection manager message, such as {@code REQ}; the error of a
 *     malformed packet; otherwise empty
 * @param bytes the content of the UDP datagram, beginning after the UDP header; valid only until
 *     the listener returns
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

    /** Returns a description of this packet for a log, in one line. */
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
