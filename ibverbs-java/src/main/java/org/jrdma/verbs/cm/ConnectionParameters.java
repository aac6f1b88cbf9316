package org.jrdma.verbs.cm;

import org.jrdma.verbs.QueuePair;

/**
 * What two sides of a connection tell each other of their queue pairs. In C: {@code struct
 * rdma_conn_param}.
 *
 * @param queuePairNumber of the queue pair of whoever sends it
 * @param sharedReceives whether that queue pair receives from a shared queue
 * @param maxDestinationReads how many reads and atomics of the peer's to answer at a time; in an
 *     event, how many the peer wants answered. In C: {@code responder_resources}
 * @param maxReads how many reads and atomics to have under way; in an event, how many the peer
 *     answers. In C: {@code initiator_depth}
 * @param retries how often to repeat after a time-out, 0 to 7
 * @param receiverNotReadyRetries how often to repeat when there is no receive, 0 to 6; 7 is without
 *     end
 */
public record ConnectionParameters(
        int queuePairNumber,
        boolean sharedReceives,
        int maxDestinationReads,
        int maxReads,
        int retries,
        int receiverNotReadyRetries) {

    private static final int MOST_RETRIES = 7;

    /** Refuses what does not fit its field. */
    public ConnectionParameters {
        check("queue pair number", queuePairNumber, 0xff_ffff);
        check("reads to answer", maxDestinationReads, 255);
        check("reads under way", maxReads, 255);
        check("retries", retries, MOST_RETRIES);
        check("retries without a receive", receiverNotReadyRetries, MOST_RETRIES);
    }

    /**
     * For a queue pair, with as many retries as there are.
     *
     * @param reads how many reads and atomics to answer and to have under way; 255 for as many as
     *     the device can
     */
    public static ConnectionParameters of(QueuePair queuePair, int reads) {
        return new ConnectionParameters(
                queuePair.number(),
                queuePair.sharedReceives().isPresent(),
                reads,
                reads,
                MOST_RETRIES,
                MOST_RETRIES);
    }

    private static void check(String what, int value, int most) {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException(
                    "%s: %d is not from 0 to %d".formatted(what, value, most));
        }
    }
}
