package org.jrdma.tck.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.model.Connection;

/**
 * Checks the transports of the connections of a program, as {@link OpenConnections} reports them.
 * Fails if the program has no connection. Writes a table of all programs to {@code
 * target/transports-TRANSPORT.md}.
 */
final class TransportUsage {

    private static final String TRANSPORT = System.getProperty("jrdma.sockets.transports");

    /** The transports that plain sockets of the kernel cannot use. */
    private static final Set<String> KERNEL_BYPASSES = Set.of("sisci", "rsocket");

    private static final Path TABLE = Path.of("target", "transports-%s.md".formatted(TRANSPORT));

    static {
        try {
            Files.writeString(
                    TABLE,
                    """
                    | program | connections | transport | bytes received | bytes sent |
                    |---|---|---|---|---|
                    """);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TransportUsage() {}

    /**
     * Checks that there is a connection to {@code port}, and that each connection to the port uses
     * the transport of this run and has sent and received at least {@code bytes}.
     */
    static void assertEach(String program, int port, long bytes) {
        assertEachToAnyOf(program, Set.of(port), bytes);
    }

    /** Checks the total of the streams from this process to one port. */
    static void assertTotal(String program, int port, long bytes) throws InterruptedException {
        for (var i = 0; i < 500 && bytes(clientsOf(Set.of(port))) < bytes; i++) {
            Thread.sleep(10); // a writer may count its bytes after the peer has received them
        }
        assertTotal(program, OpenConnections.all(), Set.of(port), bytes);
    }

    /**
     * Checks that all connections to {@code ports} use the transport of this run, and that they
     * have transferred at least {@code bytes} in total. Some of them may be idle.
     */
    static void assertTotal(
            String program, List<Connection> all, Collection<Integer> ports, long bytes) {
        var connections = to(ports, all);
        assertThat(bytes(connections)).as(program).isGreaterThanOrEqualTo(bytes).isPositive();
        assertTransport(program, connections, TRANSPORT, 0);
    }

    /**
     * Checks each connection like {@link #assertEach}, but for several ports. At least one of the
     * ports must have a connection.
     */
    static void assertEachToAnyOf(String program, Collection<Integer> ports, long bytes) {
        assertTransport(program, clientsOf(ports), TRANSPORT, bytes);
    }

    /**
     * Checks the server's side of connections from clients with plain sockets, which can use only
     * transports of the kernel.
     */
    static void assertFromPlainSocket(String program, List<Connection> connections, long bytes) {
        assertTransport(
                program,
                connections,
                KERNEL_BYPASSES.contains(TRANSPORT) ? "tcp" : TRANSPORT,
                bytes);
    }

    private static void assertTransport(
            String program, List<Connection> connections, String transport, long bytes) {
        assertThat(connections)
                .isNotEmpty()
                .allSatisfy(connection -> {
                    assertThat(connection.transport()).isEqualTo(transport);
                    assertThat(connection.bytesReceived()).isGreaterThanOrEqualTo(bytes);
                    assertThat(connection.bytesSent()).isGreaterThanOrEqualTo(bytes);
                });
        addToTable(program, connections);
    }

    private static void addToTable(String program, List<Connection> connections) {
        try {
            Files.writeString(
                    TABLE,
                    String.format(
                            Locale.ROOT,
                            "| %s | %d | %s | %,d | %,d |%n",
                            program,
                            connections.size(),
                            connections.getFirst().transport(),
                            received(connections),
                            sent(connections)),
                    StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long received(List<Connection> connections) {
        return connections.stream().mapToLong(Connection::bytesReceived).sum();
    }

    private static long sent(List<Connection> connections) {
        return connections.stream().mapToLong(Connection::bytesSent).sum();
    }

    private static long bytes(List<Connection> connections) {
        return received(connections) + sent(connections);
    }

    private static List<Connection> clientsOf(Collection<Integer> ports) {
        return to(ports, OpenConnections.all());
    }

    /** Returns the connections to one of {@code ports}. */
    static List<Connection> to(Collection<Integer> ports, List<Connection> all) {
        return all.stream()
                .filter(connection ->
                        connection.peer() instanceof InetSocketAddress peer
                                && ports.contains(peer.getPort()))
                .toList();
    }
}
