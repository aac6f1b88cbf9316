package org.jrdma.verbs.cm.model;

import java.util.Locale;

/**
 * The parameters of a queue pair that the two sides of a connection exchange, as they are on the
 * wire. In C: {@code struct rdma_conn_param}.
 *
 * @param queuePairNumber the number of the sender's queue pair
 * @param sharedReceives whether that queue pair receives from a shared receive queue
 * @param maxDestinationReads the number of incoming reads and atomics to answer at a time; in an
 *     event, the number that the peer asks for. In C: {@code responder_resources}
 * @param maxReads the number of reads and atomics to have in flight; in an event, the number that
 *     the peer answers. In C: {@code initiator_depth}
 * @param retries the number of retransmissions after a timeout, 0 to 7
 * @param receiverNotReadyRetries the number of retransmissions when the peer has no receive, 0 to
 *     6; 7 is unlimited
 */
public record ConnectionParameters(
        int queuePairNumber,
        boolean sharedReceives,
        int maxDestinationReads,
        int maxReads,
        int retries,
        int receiverNotReadyRetries) {

    private static final int MOST_RETRIES = 7;

    /**
     * Checks that each value fits its field.
     *
     * @throws IllegalArgumentException if one does not
     */
    public ConnectionParameters {
        check("queue pair number", queuePairNumber, 0xff_ffff);
        check("reads to answer", maxDestinationReads, 255);
        check("reads in flight", maxReads, 255);
        check("retries", retries, MOST_RETRIES);
        check("receiver-not-ready retries", receiverNotReadyRetries, MOST_RETRIES);
    }

    /**
     * Returns the parameters of a connected queue pair with its own receive queue and the maximum
     * of retries.
     *
     * @param queuePairNumber the number of this side's queue pair
     * @param reads the number of reads and atomics to answer and to have in flight; 255 for as many
     *     as the device supports
     */
    public static ConnectionParameters of(int queuePairNumber, int reads) {
        return new ConnectionParameters(
                queuePairNumber, false, reads, reads, MOST_RETRIES, MOST_RETRIES);
    }

    /**
     * Returns the parameters of a datagram queue pair, which has neither reads nor retries.
     *
     * @param queuePairNumber the number of this side's queue pair; 0 if the peer needs none
     */
    public static ConnectionParameters ofDatagrams(int queuePairNumber) {
        return new ConnectionParameters(queuePairNumber, false, 0, 0, 0, 0);
    }

    /** Returns these parameters for a queue pair that receives from a shared receive queue. */
    public ConnectionParameters withSharedReceives(boolean shared) {
        return new ConnectionParameters(
                queuePairNumber,
                shared,
                maxDestinationReads,
                maxReads,
                retries,
                receiverNotReadyRetries);
    }

    private static void check(String what, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(
                    "%s: %d is not from 0 to %d".formatted(what, value, most));
        }
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
