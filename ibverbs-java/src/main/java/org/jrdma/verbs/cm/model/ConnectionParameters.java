package org.jrdma.verbs.cm.model;

import java.util.Locale;
import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * The queue pair parameters that the two sides of a connection exchange, as transferred on the
 * wire. In C: {@code struct rdma_conn_param}.
 *
 * @param queuePairNumber the queue pair number of the sender
 * @param sharedReceives true if the sender's queue pair uses a shared receive queue
 * @param maxDestinationReads the maximum number of reads and atomics that the queue pair processes
 *     at a time as the responder; in an event, the number that the peer requests this side to
 *     process. In C: {@code responder_resources}
 * @param maxReads the maximum number of reads and atomics in flight as the requester; in an event,
 *     the number that the peer can process. In C: {@code initiator_depth}
 * @param retries the number of retransmissions after a timeout, 0 to 7
 * @param receiverNotReadyRetries the number of retransmissions while the peer has no receive
 *     posted, 0 to 6, or 7 for no limit
 */
public record ConnectionParameters(
        int queuePairNumber,
        boolean sharedReceives,
        int maxDestinationReads,
        int maxReads,
        int retries,
        int receiverNotReadyRetries) {

    private static final int MAX_RETRIES = 7;

    /**
     * Creates parameters.
     *
     * @throws IllegalArgumentException if a value does not fit into its field of the message
     */
    public ConnectionParameters {
        FieldRangeChecks.check("queue pair number", queuePairNumber, 0, 0xff_ffff);
        FieldRangeChecks.check("number of reads to answer", maxDestinationReads, 0, 255);
        FieldRangeChecks.check("number of reads in flight", maxReads, 0, 255);
        FieldRangeChecks.check("number of retries", retries, 0, MAX_RETRIES);
        FieldRangeChecks.check(
                "number of receiver-not-ready retries", receiverNotReadyRetries, 0, MAX_RETRIES);
    }

    /**
     * Returns the parameters of a connected queue pair that has its own receive queue and the
     * maximum numbers of retries.
     *
     * @param queuePairNumber the number of the local queue pair
     * @param reads the maximum number of reads and atomics, both as the requester and as the
     *     responder; 255 for the maximum of the device
     */
    public static ConnectionParameters of(int queuePairNumber, int reads) {
        return new ConnectionParameters(
                queuePairNumber, false, reads, reads, MAX_RETRIES, MAX_RETRIES);
    }

    /**
     * Returns the parameters of a datagram queue pair, without reads and retries.
     *
     * @param queuePairNumber the number of the local queue pair, or 0 if the peer does not need it
     */
    public static ConnectionParameters forDatagrams(int queuePairNumber) {
        return new ConnectionParameters(queuePairNumber, false, 0, 0, 0, 0);
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "queue pair 0x%06x%s, %d reads to answer, %d reads in flight, %d retries, %d"
                        + " receiver-not-ready retries",
                queuePairNumber,
                sharedReceives ? " with shared receives" : "",
                maxDestinationReads,
                maxReads,
                retries,
                receiverNotReadyRetries);
    }
}
