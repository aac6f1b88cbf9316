package org.jrdma.soft.roce.connection;

/**
 * Checks whether the remote queue pair of a connection still exists: it does if it sends a packet
 * after the creation of this object.
 */
final class PeerProbe {

    /** The number of times that a probe is repeated, which takes 1.2 seconds. */
    static final int REPEATS = 5;

    static final long WAIT_NANOS = 400_000_000;

    private final ConnectionManagerDeviceServices device;
    private final int queuePair;
    private final long packetsBefore;

    /**
     * @param queuePair the local queue pair of the connection
     */
    PeerProbe(ConnectionManagerDeviceServices device, int queuePair) {
        this.device = device;
        this.queuePair = queuePair;
        this.packetsBefore = device.packetsReceived(queuePair);
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
        device.probe(queuePair);
    }

    boolean isAnswered() {
        return device.packetsReceived(queuePair) > packetsBefore;
    }
}
