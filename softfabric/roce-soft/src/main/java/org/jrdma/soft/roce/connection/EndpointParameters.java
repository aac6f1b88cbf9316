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

    /** The same from another sequence number on. */
    EndpointParameters from(int first) {
        return new EndpointParameters(
                queuePair,
                first,
                responderResources,
                initiatorDepth,
                flowControl,
                sharedReceives,
                notReadyRetries,
                enhancement);
    }

    /** The same of another queue pair. */
    EndpointParameters of(int number) {
        return new EndpointParameters(
                number,
                sequence,
                responderResources,
                initiatorDepth,
                flowControl,
                sharedReceives,
                notReadyRetries,
                enhancement);
    }

    /** The same of a driver that adds something. */
    public EndpointParameters with(EceOptions added) {
        return new EndpointParameters(
                queuePair,
                sequence,
                responderResources,
                initiatorDepth,
                flowControl,
                sharedReceives,
                notReadyRetries,
                added);
    }
}
