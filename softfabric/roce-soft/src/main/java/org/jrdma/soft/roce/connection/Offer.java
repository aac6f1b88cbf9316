package org.jrdma.soft.roce.connection;

/**
 * What a side says of its queue pair.
 *
 * @param sequence the first packet sequence number that it expects
 * @param responderResources how many READs and atomics it answers at a time
 * @param initiatorDepth how many it would have under way
 * @param flowControl whether it tells how many receives there are
 * @param notReadyRetries how often the other is to come again when there is no receive
 * @param enhancement what its driver would add
 */
public record Offer(
        int queuePair,
        int sequence,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        boolean sharedReceives,
        int notReadyRetries,
        Enhancement enhancement) {

    /** Of a driver that adds nothing. */
    public Offer(
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
                Enhancement.NONE);
    }

    /** The same from another sequence number on. */
    Offer from(int first) {
        return new Offer(
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
    Offer of(int number) {
        return new Offer(
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
    public Offer with(Enhancement added) {
        return new Offer(
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
