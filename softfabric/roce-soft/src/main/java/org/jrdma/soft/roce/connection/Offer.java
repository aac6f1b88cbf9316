package org.jrdma.soft.roce.connection;

/**
 * What a side says of its queue pair.
 *
 * @param sequence the first packet sequence number that it expects
 * @param responderResources how many READs and atomics it answers at a time
 * @param initiatorDepth how many it would have under way
 * @param flowControl whether it tells how many receives there are
 * @param notReadyRetries how often the other is to come again when there is no receive
 */
public record Offer(
        int queuePair,
        int sequence,
        int responderResources,
        int initiatorDepth,
        boolean flowControl,
        boolean sharedReceives,
        int notReadyRetries) {}
