package org.jrdma.soft.roce.connection;

/**
 * Checks whether the remote queue pair of a connection still exists: it does if it sends a packet
 * after the creation of this object.
 */
final class PeerProbe {

    /** The number of times that a probe is repeated, which takes 1.2 seconds. */
    static final int REPEATS = 5;

    static final long WAIT_NANOS = 400_000_000;

    private final ConnectionManagerDeviceServices transport;
    private final int queuePair;
    private final long packetsBefore;

    /**
     * @param queuePair the local queue pair of the connection
     */
    PeerProbe(ConnectionManagerDeviceServices transport, int queuePair) {
        this.transport = transport;
        this.queuePair = queuePair;
        this.packetsBefore = transport.packetsReceived(queuePair);
    }

    /**
     * Returns true if the local queue pair exists and is in a state in which it can receive
     * packets.
     */
    boolean isPossible() {
        return packetsBefore >= 0;
    }

    /** Sends a packet that the remote queue pair must acknowledge. */
    void send() {
        transport.probe(queuePair);
    }

    boolean isAnswered() {
        return transport.packetsReceived(queuePair) > packetsBefore;
    }
}
