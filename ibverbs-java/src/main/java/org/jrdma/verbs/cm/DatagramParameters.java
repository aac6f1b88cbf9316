package org.jrdma.verbs.cm;

import org.jrdma.verbs.model.AddressVector;

/**
 * Where datagrams go: to a peer, or to a multicast group. In C: {@code struct rdma_ud_param}.
 *
 * @param address the way there, for {@link org.jrdma.verbs.ProtectionDomain#newAddressHandle}
 * @param queuePairNumber the queue pair there
 * @param queueKey what datagrams to it must carry
 */
public record DatagramParameters(AddressVector address, int queuePairNumber, int queueKey) {

    /**
     * The key of the queue pairs that the connection manager tells of. In C: {@code RDMA_UDP_QKEY}.
     */
    public static final int QUEUE_KEY = 0x0123_4567;

    /** What the connection manager is given of a queue pair. */
    static ConnectionParameters toTell(int queuePairNumber) {
        return new ConnectionParameters(queuePairNumber, false, 0, 0, 0, 0);
    }
}
