package org.jrdma.soft.roce.engine;

/**
 * The parameters of the transition to RTR. For datagrams, only the path MTU is used.
 *
 * @param remote the peer's address
 * @param sequence the first packet sequence number expected
 * @param maxDestinationReads the number of READs and atomics that the peer may have outstanding
 * @param notReadyTimer the timer code of RNR NAKs
 */
public record ReceiveParameters(
        Address local,
        Address remote,
        int remoteQueuePair,
        int pathMtu,
        int sequence,
        int maxDestinationReads,
        int notReadyTimer) {}
