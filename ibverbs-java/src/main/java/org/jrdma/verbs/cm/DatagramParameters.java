package org.jrdma.verbs.cm;

import org.jrdma.verbs.AddressVector;

/**
 * Where datagrams go: to a peer, or to a multicast group. In C: {@code struct rdma_ud_param}.
 *
 * @param address the way there, for {@link org.jrdma.verbs.ProtectionDomain#newAddressHandle}
 * @param queuePairNumber the queue pair there
 * @param queueKey what datagrams to it must carry
 */
public record DatagramParameters(AddressVector address, int queuePairNumber, int queueKey) {}
