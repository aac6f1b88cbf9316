package org.jrdma.verbs.cm;

import java.util.Optional;
import org.jrdma.verbs.model.QueuePairType;

/**
 * What to look up: a service of a machine, by their names, and what kind of queue pair it is for.
 * In C: {@code rdma_getaddrinfo} with its hints.
 *
 * @param host a name or an address; of a service of this machine's, empty for all of its addresses
 * @param service the number of a port, or its name in the machine's table of services
 * @param passive whether it is to be listened for, not connected to. In C: {@code RAI_PASSIVE}
 * @param numeric whether the host is an address for certain, so that nobody is asked. In C: {@code
 *     RAI_NUMERICHOST}
 * @param type of the queue pair
 * @param portSpace what the port counts in
 */
public record LookUp(
        Optional<String> host,
        String service,
        boolean passive,
        boolean numeric,
        QueuePairType type,
        PortSpace portSpace) {

    /** A service that is to be connected to, by a reliable connection. */
    public static LookUp to(String host, String service) {
        return new LookUp(
                Optional.of(host),
                service,
                false,
                false,
                QueuePairType.RELIABLE_CONNECTION,
                PortSpace.TCP);
    }

    /** A service that is to be listened for at one address of this machine. */
    public static LookUp at(String host, String service) {
        return new LookUp(
                Optional.of(host),
                service,
                true,
                false,
                QueuePairType.RELIABLE_CONNECTION,
                PortSpace.TCP);
    }

    /** A service that is to be listened for at all addresses of this machine. */
    public static LookUp at(String service) {
        return new LookUp(
                Optional.empty(),
                service,
                true,
                false,
                QueuePairType.RELIABLE_CONNECTION,
                PortSpace.TCP);
    }

    /** The same for another type of queue pair, and in the port space that has all of its type. */
    public LookUp of(QueuePairType wanted) {
        var space =
                switch (wanted) {
                    case RELIABLE_CONNECTION -> PortSpace.TCP;
                    case UNRELIABLE_DATAGRAM -> PortSpace.UDP;
                    case UNRELIABLE_CONNECTION, XRC_SEND, XRC_RECEIVE -> PortSpace.IB;
                    case RAW_PACKET ->
                            throw new IllegalArgumentException(
                                    "The connection manager has no " + wanted);
                };
        return new LookUp(host, service, passive, numeric, wanted, space);
    }

    /** The same in another port space. */
    public LookUp in(PortSpace wanted) {
        return new LookUp(host, service, passive, numeric, type, wanted);
    }

    /** The same with an address for certain. */
    public LookUp asNumber() {
        return new LookUp(host, service, passive, true, type, portSpace);
    }

    /** What to do about a number of {@code getaddrinfo}. */
    static String advice(int code) {
        return switch (code) {
            case -2 -> "Nobody knows that host or that service.";
            case -3 -> "Who knows names does not answer; try again later.";
            case -8 -> "The service is no number, and not in this machine's table of services.";
            default -> "";
        };
    }

    /** What such a number means, as the end of a sentence. */
    static String meaning(int code) {
        return switch (code) {
            case -2 -> "there is no such host or service";
            case -3 -> "who knows names does not answer now";
            case -8 -> "there is no such service";
            default -> "the look-up has failed";
        };
    }

    @Override
    public String toString() {
        return "service %s of %s".formatted(service, host.orElse("this machine"));
    }
}
