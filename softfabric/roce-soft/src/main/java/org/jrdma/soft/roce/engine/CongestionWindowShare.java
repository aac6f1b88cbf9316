package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

/**
 * The part of a path's congestion window that one reliable requester uses. Also decides which
 * packets request an acknowledgement.
 */
final class CongestionWindowShare {

    private final QueuePair queuePair;
    private final int maxPacketsWithoutRequest;
    private final PathCongestionWindow.Share share = new PathCongestionWindow.Share();

    /** The oldest sequence number that {@link #share} counts as in flight. */
    private int accountedFrom;

    private int packetsSinceRequest;
    private long chargedSinceRequest;
    private boolean requestWithNextPacket;

    /**
     * @param window the maximum number of unacknowledged packets of the queue pair
     */
    CongestionWindowShare(QueuePair queuePair, int window) {
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
     * Adds a packet of a SEND or WRITE to the bytes in flight. Returns true if the packet must
     * request an acknowledgement. The last packet of a message always does, because the completion
     * of the message must not depend on a later message. Other packets do so often enough that
     * acknowledgements arrive before the window is full.
     *
     * @param ends true if the packet is the last of its message
     */
    boolean mustRequestAcknowledgement(long charge, boolean ends) {
        packetsSinceRequest++;
        chargedSinceRequest += charge;
        return requestWithNextPacket
                || ends
                || packetsSinceRequest >= maxPacketsWithoutRequest
                || queuePair.path().mustRequestAcknowledgement(charge, chargedSinceRequest);
    }

    /** Records that a packet with a request for an acknowledgement was sent. */
    void acknowledgementRequested() {
        packetsSinceRequest = 0;
        chargedSinceRequest = 0;
        requestWithNextPacket = false;
    }

    /**
     * If packets were sent since the last request for an acknowledgement, ensures that the next
     * packet requests one, and returns true. Otherwise returns false.
     */
    boolean requestIfNoneRequested() {
        var hasUnrequested = chargedSinceRequest > 0;
        requestWithNextPacket |= hasUnrequested;
        return hasUnrequested;
    }

    /** Ensures that the next packet requests an acknowledgement. */
    void requestWithNextPacket() {
        requestWithNextPacket = true;
    }

    /**
     * Removes acknowledged packets from the bytes in flight. Assumes that all packets in flight
     * have the same size.
     *
     * @param unacknowledged the oldest sequence number that has not been acknowledged
     * @param next the sequence number of the next packet to send
     */
    void acknowledged(int unacknowledged, int next) {
        var answered = distance(accountedFrom, unacknowledged);
        var rest = Math.max(0, distance(unacknowledged, next));
        accountedFrom = unacknowledged;
        queuePair.path().acknowledged(share, answered, answered + rest);
    }

    /**
     * Removes all packets from the bytes in flight, because they will be sent again or their work
     * requests have failed.
     */
    void releaseAll(int unacknowledged) {
        if (!share.isEmpty()) {
            queuePair.path().released(share);
        }
        accountedFrom = unacknowledged;
    }
}
