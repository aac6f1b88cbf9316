package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

/** A reliable requester's share of its path. Decides when to request an acknowledgement. */
final class WindowShare {

    private final QueuePair queuePair;
    private final int maxPacketsWithoutRequest;
    private final CongestionWindow.Share share = new CongestionWindow.Share();

    /** The first sequence number that {@link #share} accounts for. */
    private int accountedFrom;

    private int packetsSinceRequest;
    private long chargedSinceRequest;
    private boolean requestWithNextPacket;

    /**
     * @param window the number of packets that may be unacknowledged
     */
    WindowShare(QueuePair queuePair, int window) {
        this.queuePair = queuePair;
        this.maxPacketsWithoutRequest = window / 4;
    }

    void start(int sequence) {
        accountedFrom = sequence;
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        requestWithNextPacket = false;
    }

    boolean permitsUnanswered(long charge) {
        return queuePair.path().permitsUnanswered(share, charge);
    }

    boolean admits(long charge) {
        return queuePair.path().admits(queuePair, share, charge);
    }

    void sent(long charge) {
        queuePair.path().sent(share, charge);
    }

    /**
     * Counts a packet of a message. Returns true if the packet must request an acknowledgement: at
     * the end of a message, because its completion must not depend on the next message, and often
     * enough that the window is reopened before it is full.
     */
    boolean mustRequestAcknowledgement(long charge, boolean ends) {
        packetsSinceRequest++;
        chargedSinceRequest += charge;
        return requestWithNextPacket
                || ends
                || packetsSinceRequest >= maxPacketsWithoutRequest
                || queuePair.path().mustRequestAcknowledgement(charge, chargedSinceRequest);
    }

    void acknowledgementRequested() {
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        requestWithNextPacket = false;
    }

    /**
     * Requests an acknowledgement with the next packet if packets were sent without a request.
     * Returns true if there are such packets.
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
        if (!share.isEmpty()) {
            queuePair.path().released(share);
        }
        accountedFrom = unacknowledged;
    }
}
