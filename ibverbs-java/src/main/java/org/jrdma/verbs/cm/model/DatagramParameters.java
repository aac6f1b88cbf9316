package org.jrdma.verbs.cm.model;

import org.jrdma.verbs.model.AddressVector;

/**
 * The destination of datagrams: a peer or a multicast group. In C: {@code struct rdma_ud_param}.
 *
 * @param address the address vector of the destination, see {@link
 *     org.jrdma.verbs.ProtectionDomain#newAddressHandle}
 * @param queuePairNumber the number of the destination queue pair
 * @param queueKey the queue key that datagrams to the destination queue pair must contain
 */
public record DatagramParameters(AddressVector address, int queuePairNumber, int queueKey) {

    /**
     * The queue key of queue pairs for datagram services of the connection manager. In C: {@code
     * RDMA_UDP_QKEY}.
     */
    public static final int QUEUE_KEY = 0x0123_4567;

    @Override
    public String toString() {
        return "queue pair 0x%06x with queue key 0x%08x at %s"
                .formatted(queuePairNumber, queueKey, address);
    }
}
