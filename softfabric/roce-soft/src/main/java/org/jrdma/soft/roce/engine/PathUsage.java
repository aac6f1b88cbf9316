package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

/**
 * The requests in flight of a reliable requester on its path, and when it must request an
 * acknowledgement to get room again.
 */
final class PathUsage {

    private final QueuePair queuePair;
    private final int maxPacketsWithoutRequest;
    private final Path.Share share = new Path.Share();

    /** The first sequence number that {@link #share} accounts for. */
    private int accountedFrom;

    private int packetsSinceRequest;
    private long chargedSinceRequest;
    private boolean requestWithNextPacket;

    /**
     * @param window how many packets may be unacknowledged
     */
    PathUsage(QueuePair queuePair, int window) {
        this.queuePair = queuePair;
        this.maxPacketsWithoutRequest = window / 4;
    }

    void start(int sequence) {
        accountedFrom = sequence;
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        requestWithNextPacket = false;
    }

    boolean leavesRoom(long charge) {
        return queuePair.path().leavesRoom(share, charge);
    }

    boolean admits(long charge) {
        return queuePair.path().admits(queuePair, share, charge);
    }

    void sent(long charge) {
        queuePair.path().sent(share, charge);
    }

    /**
     * Counts a packet of a message. Returns whether the packet must request an acknowledgement: at
     * each end of a message, because a completion must not wait for the next message, and often
     * enough that the window does not close without the peer knowing.
     */
    boolean mustRequestAcknowledgement(long charge, boolean ends) {
        packetsSinceRequest++;
        chargedSinceRequest += charge;
        return requestWithNextPacket
                || ends
                || packetsSinceRequest >= maxPacketsWithoutRequest
                || queuePair.path().asks(charge, chargedSinceRequest);
    }

    void acknowledgementRequested() {
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        requestWithNextPacket = false;
    }

    /**
     * Requests an acknowledgement with the next packet if packets were sent without a request.
     * Returns whether there are such packets.
     */
    boolean requestIfNoneRequested() {
        var hasUnrequested = chargedSinceRequest > 0;
        requestWithNextPacket |= hasUnrequested;
        return hasUnrequested;
    }

    void requestWithNextPacket() {
        requestWithNextPacket = true;
    }

    /** Releases the acknowledged part of the packets in flight, in proportion. */
    void acknowledged(int unacknowledged, int next) {
        var answered = distance(accountedFrom, unacknowledged);
        var rest = Math.max(0, distance(unacknowledged, next));
        accountedFrom = unacknowledged;
        queuePair.path().acknowledged(share, answered, answered + rest);
    }

    /** Releases all packets in flight: they are sent again or given up. */
    void releaseAll(int unacknowledged) {
        if (!share.isNothing()) {
            queuePair.path().released(share);
        }
        accountedFrom = unacknowledged;
    }
}
