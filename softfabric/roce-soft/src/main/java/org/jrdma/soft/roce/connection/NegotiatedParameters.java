package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a connection, computed from those that both sides have announced. Until the
 * second side has announced its parameters, only those of the first are used.
 */
public final class NegotiatedParameters {

    private final ConnectRequest request;
    private final boolean active;
    private @Nullable EndpointParameters own;
    private @Nullable EndpointParameters peers;
    private int acknowledgeTimeout;

    /**
     * @param active true if this side has sent the connect request
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

    /**
     * Returns the parameters of this side's queue pair, or null until this side has announced them.
     */
    @Nullable EndpointParameters own() {
        return own;
    }

    void own(EndpointParameters stated) {
        own = stated;
    }

    /**
     * Returns the parameters of the remote queue pair, or null until the peer has announced them.
     */
    public @Nullable EndpointParameters peers() {
        return peers;
    }

    /**
     * Records the peer's reply, and increases the acknowledgement timeout by the acknowledgement
     * delay that the reply contains.
     */
    void replied(ConnectReply reply) {
        peers = reply.offer();
        acknowledgeTimeout = delayed(request.path().acknowledgeTimeout(), reply.acknowledgeDelay());
    }

    /**
     * Returns the exponent of the sum of a timeout and a delay, which are also given as exponents.
     * The sum is rounded up.
     */
    private static int delayed(int timeout, int delay) {
        var sum = Math.max(timeout, delay) + (Math.abs(timeout - delay) <= 1 ? 1 : 0);
        return Math.min(sum, 31);
    }

    /**
     * Returns the number of READs and atomics that this side's queue pair must accept at a time.
     */
    public int responderResources() {
        if (own != null && (peers == null || !active)) {
            return own.responderResources();
        }
        return peers == null ? 0 : peers.initiatorDepth();
    }

    /** Returns the number of READs and atomics that this side's queue pair may have outstanding. */
    public int initiatorDepth() {
        if (own != null && (peers == null || !active)) {
            return own.initiatorDepth();
        }
        return peers == null ? 0 : peers.responderResources();
    }

    /** Returns the number of times that this side's queue pair retransmits after RNR NAKs. */
    public int notReadyRetries() {
        return peers == null ? request.offer().notReadyRetries() : peers.notReadyRetries();
    }

    /**
     * Returns the exponent of the acknowledgement timeout of the queue pairs, in units of 4.096 us.
     */
    public int acknowledgeTimeout() {
        return acknowledgeTimeout;
    }
}
