package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.Nullable;

/** The parameters of a connection, as far as both sides have stated them. */
public final class NegotiatedParameters {

    private final ConnectRequest request;
    private final boolean active;
    private @Nullable EndpointParameters own;
    private @Nullable EndpointParameters peers;
    private int acknowledgeTimeout;

    /**
     * @param active true if this side sent the request
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

    /** Returns the parameters of this side's queue pair; null until they are stated. */
    @Nullable EndpointParameters own() {
        return own;
    }

    void own(EndpointParameters stated) {
        own = stated;
    }

    /** Returns the queue pair parameters of the peer; null until they are stated. */
    public @Nullable EndpointParameters peers() {
        return peers;
    }

    /** Records the reply of the peer, and adds its delay of acknowledgements to the timeout. */
    void replied(ConnectReply reply) {
        peers = reply.offer();
        acknowledgeTimeout = delayed(acknowledgeTimeout, reply.acknowledgeDelay());
    }

    /** Returns the exponent of the sum of two durations given by their exponents, rounded up. */
    private static int delayed(int timeout, int delay) {
        var sum = Math.max(timeout, delay) + (Math.abs(timeout - delay) <= 1 ? 1 : 0);
        return Math.min(sum, 31);
    }

    /** Returns the number of READs and atomics that this side's queue pair accepts at a time. */
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

    /** Returns the number of retries of this side's queue pair after RNR NAKs. */
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
