package org.jrdma.soft.roce.connection;

/**
 * The parameters of a queue pair that one side of a connection sends to the other side in a connect
 * request or a reply.
 *
 * @param queuePair the queue pair number
 * @param sequence the first packet sequence number that the queue pair expects
 * @param responderResources the maximum number of READs and atomics that the sender of the
 *     parameters executes at the same time
 * @param initiatorDepth the maximum number of READs and atomics that the sender of the parameters
 *     has outstanding
 * @param flowControl true if the sender of the parameters reports the number of its posted receives
 *     (end-to-end flow control)
 * @param sharedReceives true if the queue pair uses a shared receive queue
 * @param notReadyRetries the number of times that the receiver of the parameters must repeat a
 *     message after RNR NAKs
 * @param enhancement the ECE options of the driver
 */
public record EndpointParameters(
        int queuePair,
        int sequence,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        boolean sharedReceives,
        int notReadyRetries,
        EceOptions enhancement) {

    /** Creates parameters without ECE options. */
    public EndpointParameters(
            int queuePair,
            int sequence,
            int responderResources,
            int initiatorDepth,
            boolean flowControl,
            boolean sharedReceives,
            int notReadyRetries) {
        this(
                queuePair,
                sequence,
                responderResources,
                initiatorDepth,
                flowControl,
                sharedReceives,
                notReadyRetries,
                EceOptions.NONE);
    }

    /** Returns a copy with another sequence number. */
    EndpointParameters from(int first) {
        return with(queuePair, first, enhancement);
    }

    /** Returns a copy with another queue pair. */
    EndpointParameters of(int number) {
        return with(number, sequence, enhancement);
    }

    /** Returns a copy with other ECE options. */
    public EndpointParameters with(EceOptions options) {
        return with(queuePair, sequence, options);
    }

    private EndpointParameters with(int number, int first, EceOptions options) {
        return new EndpointParameters(
                number,
                first,
                responderResources,
                initiatorDepth,
                flowControl,
                sharedReceives,
                notReadyRetries,
                options);
    }
}
