package org.jrdma.soft.roce.engine;

/**
 * What a queue pair must know to receive.
 *
 * @param remote the peer's address; of no meaning for datagrams, as the following but the MTU
 * @param sequence the first packet sequence number expected
 * @param maxDestinationReads how many READs and atomics the peer may have outstanding
 * @param notReadyTimer the timer code that tells a peer when to come again
 */
public record ReceiveParameters(
        Address local,
        Address remote,
        int remoteQueuePair,
        int pathMtu,
        int sequence,
        int maxDestinationReads,
        int notReadyTimer) {}
