package org.jrdma.verbs.cm.model;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The address of a service, and the kind of connection that leads to it. In C: {@code struct
 * rdma_addrinfo}.
 *
 * @param type the type of the queue pair
 * @param portSpace the port space of the addresses
 * @param local the address to listen at, or to connect from; empty for any address
 * @param peer the address to connect to; empty for a service to listen for
 */
public record AddressInfo(
        QueuePairType type,
        PortSpace portSpace,
        Optional<InetSocketAddress> local,
        Optional<InetSocketAddress> peer) {}
