package org.jrdma.volume.model;

import java.util.List;

/**
 * A description of a connection from a client to a server at one moment.
 *
 * @param server addresses of the server; not necessarily all
 * @param transport the transport in use: verbs, sisci or sockets
 * @param description the transport with its details, such as {@code sockets (tcp) to
 *     node1/10.0.0.1:7471}
 * @param unused the addresses with preferred transports that did not work, with the reasons
 */
public record ConnectionDescription(
        List<String> server, String transport, String description, List<String> unused) {

    /** Copies the lists. */
    public ConnectionDescription {
        server = List.copyOf(server);
        unused = List.copyOf(unused);
    }
}
