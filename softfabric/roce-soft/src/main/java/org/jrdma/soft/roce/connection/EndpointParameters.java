package org.jrdma.soft.roce.connection;

/**
 * The queue pair parameters that one side of a connection states.
 *
 * @param sequence the first packet sequence number that the side expects
 * @param responderResources the number of READs and atomics that the side accepts at a time
 * @param initiatorDepth the number of READs and atomics that the side would have outstanding
 * @param flowControl true if the side reports the number of its receives
 * @param notReadyRetries the number of retries of the other side after RNR NAKs
 * @param enhancement the ECE options of the side's driver
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
