package org.jrdma.verbs.cm.model;

import java.net.InetSocketAddress;
import java.util.Optional;
import org.jrdma.ffi.AddressText;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The result of an address lookup: the address of a service, and the type of queue pairs that use
 * the address. In C: {@code struct rdma_addrinfo}.
 *
 * @param type the type of the queue pair
 * @param portSpace the port space of the addresses
 * @param local the address to listen at or to connect from; empty for any local address
 * @param peer the address to connect to; empty for an address to listen at
 */
public record AddressInfo(
        QueuePairType type,
        PortSpace portSpace,
        Optional<InetSocketAddress> local,
        Optional<InetSocketAddress> peer) {

    @Override
    public String toString() {
        return "%s address (%s, local %s, peer %s)"
                .formatted(
                        portSpace,
                        type,
                        local.map(AddressText::of).orElse("none"),
                        peer.map(AddressText::of).orElse("none"));
    }
}
