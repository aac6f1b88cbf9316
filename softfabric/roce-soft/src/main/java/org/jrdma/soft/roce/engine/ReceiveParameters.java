package org.jrdma.soft.roce.engine;

/**
 * The parameters of the transition of a queue pair to RTR. For a datagram queue pair, only the path
 * MTU is used.
 *
 * @param remote the peer's address
 * @param flow the traffic class and flow label of the packets to the peer, as in {@link
 *     org.jrdma.soft.roce.packet.PacketBuffer#flow}
 * @param sequence the packet sequence number that the queue pair expects in the first packet
 * @param maxDestinationReads the maximum number of READs and atomics that the peer may have
 *     outstanding
 * @param notReadyTimer the timer code that RNR NAKs of this queue pair carry
 */
public record ReceiveParameters(
        RoceGid local,
        RoceGid remote,
        int flow,
        int remoteQueuePair,
        int pathMtu,
        int sequence,
        int maxDestinationReads,
        int notReadyTimer) {

    /** Creates parameters with the default traffic class and flow label. */
    public ReceiveParameters(
            RoceGid local,
            RoceGid remote,
            int remoteQueuePair,
            int pathMtu,
            int sequence,
            int maxDestinationReads,
            int notReadyTimer) {
        this(
                local,
                remote,
                0,
                remoteQueuePair,
                pathMtu,
                sequence,
                maxDestinationReads,
                notReadyTimer);
    }
}
