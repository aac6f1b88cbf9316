package org.jrdma.tck.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import java.util.List;
import org.jrdma.sockets.Connection;
import org.jrdma.sockets.Connections;

/** What the registry says of a program's connections. A program that never came by is a failure. */
final class Travelled {

    private static final String TRANSPORT = System.getProperty("jrdma.sockets.transports");

    private Travelled() {}

    /**
     * Whoever is connected to or from {@code port} is so over the transport of this run, and both
     * ends have sent or received so many bytes at least.
     */
    static void overTheTransport(int port, long bytes) {
        assertThat(clientsOf(port)).isNotEmpty().allSatisfy(each -> travelled(each, bytes));
    }

    /**
     * The same of the server's end where the client is a plain socket, which knows the kernel's
     * sockets alone.
     */
    static void fromAPlainSocket(List<Connection> connections, long bytes) {
        var transport = TRANSPORT.equals("sisci") ? "tcp" : TRANSPORT;
        assertThat(connections).isNotEmpty().allSatisfy(each -> travelled(each, transport, bytes));
    }

    private static void travelled(Connection connection, long bytes) {
        travelled(connection, TRANSPORT, bytes);
    }

    private static void travelled(Connection connection, String transport, long bytes) {
        assertThat(connection.transport()).isEqualTo(transport);
        assertThat(connection.bytesReceived()).isGreaterThanOrEqualTo(bytes);
        assertThat(connection.bytesSent()).isGreaterThanOrEqualTo(bytes);
    }

    private static List<Connection> clientsOf(int port) {
        return Connections.all().stream()
                .filter(connection ->
                        connection.peer() instanceof InetSocketAddress peer
                                && peer.getPort() == port)
                .toList();
    }
}
