package org.jrdma.verbs.cm;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.verbs.model.QueuePairType;

/**
 * Where a service is, and what kind of connection leads to it. In C: {@code struct rdma_addrinfo}.
 *
 * @param type of the queue pair
 * @param portSpace what the port counts in
 * @param local where to listen, or to connect from; empty for any address
 * @param peer where to connect to; empty for what is to be listened for
 */
public record AddressInfo(
        QueuePairType type,
        PortSpace portSpace,
        Optional<InetSocketAddress> local,
        Optional<InetSocketAddress> peer) {}
