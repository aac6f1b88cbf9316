package org.jrdma.verbs.cm.model;

import java.util.Objects;
import java.util.Optional;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.verbs.model.QueuePairType;

/**
 * A query for the address of a service by host and service name, with the type of the queue pair
 * that will use the address. Immutable: {@link #type(QueuePairType)}, {@link #portSpace(PortSpace)}
 * and {@link #numericHost()} return a changed copy. In C: the arguments and hints of {@code
 * rdma_getaddrinfo}.
 *
 * @param host a host name or an IP address; empty for all addresses of this machine
 * @param service a port number, or a name in this machine's services table
 * @param passive true for an address to listen at, false for an address to connect to. In C: {@code
 *     RAI_PASSIVE}
 * @param numeric true if the host is an IP address, so that no name service is used. In C: {@code
 *     RAI_NUMERICHOST}
 * @param type the type of the queue pair
 * @param portSpace the port space of the address
 */
@CheckReturnValue
public record AddressQuery(
        Optional<String> host,
        String service,
        boolean passive,
        boolean numeric,
        QueuePairType type,
        PortSpace portSpace) {

    /** Creates a query. */
    public AddressQuery {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(service, "service");
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(portSpace, "portSpace");
    }

    /** Returns a query for the address of a service to connect to, over a reliable connection. */
    public static AddressQuery to(String host, String service) {
        return reliable(Optional.of(host), service, false);
    }

    /**
     * Returns a query for an address to listen at, for a reliable connection.
     *
     * @param host the host name or IP address of this machine to listen at
     */
    public static AddressQuery at(String host, String service) {
        return reliable(Optional.of(host), service, true);
    }

    /**
     * Returns a query for an address to listen at on all IP addresses of this machine, for a
     * reliable connection.
     */
    public static AddressQuery at(String service) {
        return reliable(Optional.empty(), service, true);
    }

    private static AddressQuery reliable(Optional<String> host, String service, boolean passive) {
        return new AddressQuery(
                host, service, passive, false, QueuePairType.RELIABLE_CONNECTION, PortSpace.TCP);
    }

    /**
     * Returns a copy of this query with another queue pair type and the port space of that type.
     *
     * @throws IllegalArgumentException if the connection manager does not support the type
     */
    public AddressQuery type(QueuePairType newType) {
        var space =
                switch (newType) {
                    case RELIABLE_CONNECTION -> PortSpace.TCP;
                    case UNRELIABLE_DATAGRAM -> PortSpace.UDP;
                    case UNRELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> PortSpace.IB;
                    case RAW_PACKET ->
                            throw new IllegalArgumentException(
                                    "The connection manager does not support the queue pair type "
                                            + newType);
                };
        return new AddressQuery(host, service, passive, numeric, newType, space);
    }

    /** Returns a copy of this query with another port space. */
    public AddressQuery portSpace(PortSpace newPortSpace) {
        return new AddressQuery(host, service, passive, numeric, type, newPortSpace);
    }

    /** Returns a copy of this query whose host is an IP address, so no name service is used. */
    public AddressQuery numericHost() {
        return new AddressQuery(host, service, passive, true, type, portSpace);
    }

    @Override
    public String toString() {
        return "service %s of %s".formatted(service, host.orElse("this machine"));
    }
}
