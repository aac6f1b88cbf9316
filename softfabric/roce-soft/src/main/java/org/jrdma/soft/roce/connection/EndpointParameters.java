package org.jrdma.soft.roce.connection;

/**
 * The queue pair parameters that one side of a connection announces to the other.
 *
 * @param sequence the packet sequence number that the announcing side expects in the first packet
 * @param responderResources the number of READs and atomics that the announcing side accepts at a
 *     time
 * @param initiatorDepth the number of READs and atomics that the announcing side intends to have
 *     outstanding
 * @param flowControl true if the announcing side reports the number of its posted receives
 * @param sharedReceives true if the queue pair of the announcing side uses a shared receive queue
 * @param notReadyRetries the number of times that the other side retransmits after RNR NAKs
 * @param enhancement the ECE options of the driver of the announcing side
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

    /** Returns a copy whose first packet has the sequence number {@code first}. */
    EndpointParameters from(int first) {
        return with(queuePair, first, enhancement);
    }

    /** Returns a copy with another queue pair number. */
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
