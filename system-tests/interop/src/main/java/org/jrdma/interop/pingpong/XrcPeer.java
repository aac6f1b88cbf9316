package org.jrdma.interop.pingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;

/**
 * The peer of a queue pair of {@code ibv_xsrq_pingpong}: a server or a client, which are connected
 * in both directions.
 *
 * @param receiver the number of the queue pair that receives
 * @param sender the endpoint of the queue pair that sends
 * @param receiveQueue the number of the shared receive queue, to which the other side sends
 */
record XrcPeer(int receiver, Endpoint sender, int receiveQueue) {

    /**
     * The size of a message: {@code lid:receiver:sender:packet sequence:receive queue:gid} and a
     * zero byte.
     */
    static final int MESSAGE_BYTES = 4 + 1 + 6 + 1 + 6 + 1 + 6 + 1 + 6 + 1 + 32 + 1;

    private static final int HEX = 16;

    /**
     * Returns the endpoint of the queue pair that receives. This queue pair never sends, so any
     * packet sequence number is valid.
     */
    Endpoint receiverEndpoint() {
        return new Endpoint(sender.lid(), receiver, sender.packetSequence(), sender.gid());
    }

    byte[] toMessage() {
        return "%04x:%06x:%06x:%06x:%06x:%s\0"
                .formatted(
                        sender.lid(),
                        receiver,
                        sender.queuePairNumber(),
                        sender.packetSequence(),
                        receiveQueue,
                        sender.gid().toHexDigits())
                .getBytes(US_ASCII);
    }

    static XrcPeer fromMessage(byte[] message) throws IOException {
        var text = new String(message, 0, MESSAGE_BYTES - 1, US_ASCII);
        var parts = text.split(":", -1);
        try {
            if (parts.length == 6) {
                return new XrcPeer(
                        number(parts[1]),
                        new Endpoint(
                                number(parts[0]),
                                number(parts[2]),
                                number(parts[3]),
                                Gid.parse(parts[5])),
                        number(parts[4]));
            }
        } catch (IllegalArgumentException e) {
            // The failure is reported below.
        }
        throw new IOException("The other side is not xsrq-pingpong: it sent \"" + text + "\".");
    }

    private static int number(String digits) {
        return Integer.parseInt(digits, HEX);
    }

    /** Returns the text that the C program prints. */
    String describe(String label) {
        return "%8s: LID %04x, QPN RECV %06x SEND %06x, PSN %06x, SRQN %06x, GID %s"
                .formatted(
                        label,
                        sender.lid(),
                        receiver,
                        sender.queuePairNumber(),
                        sender.packetSequence(),
                        receiveQueue,
                        sender.gid());
    }
}
