package org.jrdma.volume.net;

import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;

/**
 * A parsed address of a node: {@code sockets:storage01:7471}.
 *
 * @param place the part after the name of the transport
 */
record WireAddress(TransportKind transport, String place) {

    static WireAddress parse(String address) throws FabricException {
        for (var transport : TransportKind.values()) {
            if (address.startsWith(transport + ":")) {
                return new WireAddress(
                        transport, address.substring(transport.toString().length() + 1));
            }
        }
        throw new FabricException(
                "Cannot parse the node address \"%s\": it must start with verbs:, sisci: or sockets:."
                        .formatted(address));
    }

    /** Checks the part after the name of the transport. */
    void checkPlace() throws FabricException {
        var _ =
                switch (transport) {
                    case VERBS, SOCKETS -> HostAndPort.parse(place);
                    case SISCI -> SisciEndpoint.parsePlace(place);
                };
    }

    /**
     * Returns the addresses with one of the transports of the options, in the order of the
     * transports.
     */
    static List<WireAddress> select(List<String> addresses, NodeOptions options)
            throws FabricException {
        var parsed = new ArrayList<WireAddress>();
        for (var address : addresses) {
            parsed.add(parse(address));
        }
        var selected = new ArrayList<WireAddress>();
        for (var transport : options.transports) {
            parsed.stream()
                    .filter(address -> address.transport == transport)
                    .forEach(selected::add);
        }
        return List.copyOf(selected);
    }

    /** Returns the failure of an attempt to connect to this address. */
    SkippedTransport failed(Exception cause) {
        var reason = String.valueOf(cause.getMessage());
        return new SkippedTransport(
                transport,
                toString(),
                cause instanceof UnknownHostException ? "unknown host " + reason : reason);
    }

    @Override
    public String toString() {
        return transport + ":" + place;
    }
}
