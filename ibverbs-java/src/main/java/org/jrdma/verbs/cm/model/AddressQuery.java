package org.jrdma.verbs.cm.model;

import java.util.Optional;
import org.jrdma.verbs.model.QueuePairType;

/**
 * A query for the address of a service by host and service name, with the kind of queue pair that
 * will use it. In C: the arguments and hints of {@code rdma_getaddrinfo}.
 *
 * @param host a host name or an IP address; empty for all addresses of this machine
 * @param service a port number, or a name in this machine's services table
 * @param passive whether the address is to listen at, not to connect to. In C: {@code RAI_PASSIVE}
 * @param numeric whether the host is an IP address, so that no name service is asked. In C: {@code
 *     RAI_NUMERICHOST}
 * @param type the type of the queue pair
 * @param portSpace the port space of the address
 */
public record AddressQuery(
        Optional<String> host,
        String service,
        boolean passive,
        boolean numeric,
        QueuePairType type,
        PortSpace portSpace) {

    /** Returns a query for a service to connect to with a reliable connection. */
    public static AddressQuery to(String host, String service) {
        return reliable(Optional.of(host), service, false);
    }

    /** Returns a query for a service to listen for at one address of this machine. */
    public static AddressQuery at(String host, String service) {
        return reliable(Optional.of(host), service, true);
    }

    /** Returns a query for a service to listen for at all addresses of this machine. */
    public static AddressQuery at(String service) {
        return reliable(Optional.empty(), service, true);
    }

    private static AddressQuery reliable(Optional<String> host, String service, boolean passive) {
        return new AddressQuery(
                host, service, passive, false, QueuePairType.RELIABLE_CONNECTION, PortSpace.TCP);
    }

    /**
     * Returns this query for another type of queue pair, in the port space of that type.
     *
     * @throws IllegalArgumentException if the connection manager does not connect that type
     */
    public AddressQuery of(QueuePairType wanted) {
        var space =
                switch (wanted) {
                    case RELIABLE_CONNECTION -> PortSpace.TCP;
                    case UNRELIABLE_DATAGRAM -> PortSpace.UDP;
                    case UNRELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> PortSpace.IB;
                    case RAW_PACKET ->
                            throw new IllegalArgumentException(
                                    "The connection manager has no port space for the type "
                                            + wanted);
                };
        return new AddressQuery(host, service, passive, numeric, wanted, space);
    }

    /** Returns this query in another port space. */
    public AddressQuery in(PortSpace wanted) {
        return new AddressQuery(host, service, passive, numeric, type, wanted);
    }

    /** Returns this query with a host that is an IP address, so that no name service is asked. */
    public AddressQuery asNumber() {
        return new AddressQuery(host, service, passive, true, type, portSpace);
    }

    @Override
    public String toString() {
        return "service %s of %s".formatted(service, host.orElse("this machine"));
    }
}
