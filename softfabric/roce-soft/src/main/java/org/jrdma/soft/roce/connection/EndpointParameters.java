package org.jrdma.soft.roce.connection;

/**
 * The parameters of a queue pair that one side of a connection states.
 *
 * @param sequence the first packet sequence number that it expects
 * @param responderResources how many READs and atomics it answers at a time
 * @param initiatorDepth how many it would have under way
 * @param flowControl whether it tells how many receives there are
 * @param notReadyRetries how often the other is to come again when there is no receive
 * @param enhancement what its driver would add
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

    /** Of a driver that adds nothing. */
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

    /** A copy with another sequence number. */
    EndpointParameters from(int first) {
        return with(queuePair, first, enhancement);
    }

    /** A copy with another queue pair. */
    EndpointParameters of(int number) {
        return with(number, sequence, enhancement);
    }

    /** A copy with other ECE options. */
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
