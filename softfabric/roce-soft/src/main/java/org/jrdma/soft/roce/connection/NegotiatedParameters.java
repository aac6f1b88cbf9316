package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of the queue pairs of a connection, as far as the two sides have exchanged them.
 */
public final class NegotiatedParameters {

    private final ConnectRequest request;
    private final boolean active;
    private @Nullable EndpointParameters own;
    private @Nullable EndpointParameters peers;
    private int acknowledgeTimeout;

    /**
     * Creates the parameters of a connection that was requested.
     *
     * @param active true if this side has sent the request
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

    /** The parameters that this side has sent; null while it has sent none. */
    @Nullable EndpointParameters own() {
        return own;
    }

    void own(EndpointParameters stated) {
        own = stated;
    }

    /** The parameters that the peer has sent; null while this side has received none. */
    public @Nullable EndpointParameters peers() {
        return peers;
    }

    /**
     * Records the parameters in the reply of the peer, and adds the acknowledgement delay of the
     * peer to the acknowledgement timeout.
     */
    void replied(ConnectReply reply) {
        peers = reply.offer();
        acknowledgeTimeout = delayed(acknowledgeTimeout, reply.acknowledgeDelay());
    }

    /**
     * Adds two durations, each represented by the exponent of a power of two. Returns the exponent
     * of the sum, rounded up.
     */
    private static int delayed(int timeout, int delay) {
        var sum = Math.max(timeout, delay) + (Math.abs(timeout - delay) <= 1 ? 1 : 0);
        return Math.min(sum, 31);
    }

    /**
     * The maximum number of READs and atomics that the queue pair of this side executes at the same
     * time.
     */
    public int responderResources() {
        if (own != null && (peers == null || !active)) {
            return own.responderResources();
        }
        return peers == null ? 0 : peers.initiatorDepth();
    }

    /**
     * The maximum number of READs and atomics that the queue pair of this side may have
     * outstanding.
     */
    public int initiatorDepth() {
        if (own != null && (peers == null || !active)) {
            return own.initiatorDepth();
        }
        return peers == null ? 0 : peers.responderResources();
    }

    /** The number of times that the queue pair of this side repeats a message after RNR NAKs. */
    public int notReadyRetries() {
        return peers == null ? request.offer().notReadyRetries() : peers.notReadyRetries();
    }

    /** The exponent of the acknowledgement timeout of the queue pairs, in units of 4.096 us. */
    public int acknowledgeTimeout() {
        return acknowledgeTimeout;
    }
}
