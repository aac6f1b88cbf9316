package org.jrdma.soft.roce.connection;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The device services that a connection manager uses: a clock, management datagrams, and packets
 * that show whether a remote queue pair still exists.
 */
public interface ConnectionManagerDeviceServices {

    /** Returns the time in nanoseconds since an arbitrary origin. */
    long now();

    /**
     * Sends a message to queue pair 1 at an address. The message may be lost. Implementations must
     * not call back into the connection manager.
     */
    void send(RoceGid remote, MemorySegment message);

    /**
     * Returns the number of packets that a queue pair of this device has received from its peer, or
     * -1 if there is no such queue pair or it is in a state that does not receive.
     */
    long packetsReceived(int queuePair);

    /**
     * Sends a packet that makes the peer of a queue pair send an acknowledgement, if the remote
     * queue pair still exists. Has no effect for queue pairs that receive no acknowledgements.
     */
    void probe(int queuePair);
}
