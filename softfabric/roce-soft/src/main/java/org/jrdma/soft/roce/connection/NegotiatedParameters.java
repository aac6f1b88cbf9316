package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.Nullable;

/** The parameters of a connection as far as both sides have stated them. */
public final class NegotiatedParameters {

    private final ConnectRequest request;
    private final boolean active;
    private @Nullable EndpointParameters own;
    private @Nullable EndpointParameters peers;
    private int acknowledgeTimeout;

    /**
     * @param active whether this side sent the request
     */
    NegotiatedParameters(ConnectRequest request, boolean active) {
        this.request = request;
        this.active = active;
        this.acknowledgeTimeout = request.path().acknowledgeTimeout();
        if (active) {
            own = request.offer();
        } else {
            peers = request.offer();
        }
    }

    /** The parameters of this side's queue pair; null until they are stated. */
    @Nullable EndpointParameters own() {
        return own;
    }

    void own(EndpointParameters stated) {
        own = stated;
    }

    /** The parameters of the peer's queue pair; null until they are stated. */
    public @Nullable EndpointParameters peers() {
        return peers;
    }

    /** Notes the reply of the peer, whose delay is added to the timeout. */
    void replied(ConnectReply reply) {
        peers = reply.offer();
        acknowledgeTimeout = delayed(acknowledgeTimeout, reply.acknowledgeDelay());
    }

    /** The sum of two durations, both of them exponents of two, rounded up. */
    private static int delayed(int timeout, int delay) {
        var sum = Math.max(timeout, delay) + (Math.abs(timeout - delay) <= 1 ? 1 : 0);
        return Math.min(sum, 31);
    }

    /** How many READs and atomics this side's queue pair answers at a time. */
    public int responderResources() {
        if (own != null && (peers == null || !active)) {
            return own.responderResources();
        }
        return peers == null ? 0 : peers.initiatorDepth();
    }

    /** How many READs and atomics this side's queue pair may have outstanding. */
    public int initiatorDepth() {
        if (own != null && (peers == null || !active)) {
            return own.initiatorDepth();
        }
        return peers == null ? 0 : peers.responderResources();
    }

    /** How often this side's queue pair retries when the peer has no receive (RNR). */
    public int notReadyRetries() {
        return peers == null ? request.offer().notReadyRetries() : peers.notReadyRetries();
    }

    /** How long queue pairs wait for an acknowledgement: 4.096 us times 2 to this. */
    public int acknowledgeTimeout() {
        return acknowledgeTimeout;
    }
}
