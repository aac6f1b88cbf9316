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
import org.jrdma.sockets.Connections;
import org.jrdma.sockets.model.Connection;

/**
 * What the registry says of a program's connections. A program that never came by is a failure.
 * Leaves a table of them all, {@code target/travelled-TRANSPORT.md}.
 */
final class Travelled {

    private static final String TRANSPORT = System.getProperty("jrdma.sockets.transports");

    /** Of which the kernel knows nothing. */
    private static final Set<String> SHORT_CUTS = Set.of("sisci", "rsocket");

    private static final Path TABLE = Path.of("target", "travelled-%s.md".formatted(TRANSPORT));

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

    private Travelled() {}

    /**
     * Whoever is connected to {@code port} is so over the transport of this run, and has sent and
     * received so many bytes at least.
     */
    static void overTheTransport(String program, int port, long bytes) {
        overTheTransportToAnyOf(program, Set.of(port), bytes);
    }

    /** As {@link #together}, of one port and the streams of this process. */
    static void overTheTransportTogether(String program, int port, long bytes)
            throws InterruptedException {
        for (var i = 0; i < 500 && bytes(clientsOf(Set.of(port))) < bytes; i++) {
            Thread.sleep(10); // a writer counts what it has sent when the peer may have it already
        }
        together(program, Connections.all(), Set.of(port), bytes);
    }

    /**
     * Of some process's streams, those to any of {@code ports}: all go over the transport of this
     * run, and so many bytes have gone there and back on all of them, some of which may be idle.
     */
    static void together(
            String program, List<Connection> all, Collection<Integer> ports, long bytes) {
        var connections = to(ports, all);
        assertThat(bytes(connections)).as(program).isGreaterThanOrEqualTo(bytes).isPositive();
        travelled(program, connections, TRANSPORT, 0);
    }

    /** The same of several ports, to one of which there is a connection at least. */
    static void overTheTransportToAnyOf(String program, Collection<Integer> ports, long bytes) {
        travelled(program, clientsOf(ports), TRANSPORT, bytes);
    }

    /**
     * The same of the server's end where the client is a plain socket, which knows the kernel's
     * sockets alone.
     */
    static void fromAPlainSocket(String program, List<Connection> connections, long bytes) {
        travelled(program, connections, SHORT_CUTS.contains(TRANSPORT) ? "tcp" : TRANSPORT, bytes);
    }

    private static void travelled(
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
        return to(ports, Connections.all());
    }

    /** Of some process's streams, those to any of {@code ports}. */
    static List<Connection> to(Collection<Integer> ports, List<Connection> all) {
        return all.stream()
                .filter(connection ->
                        connection.peer() instanceof InetSocketAddress peer
                                && ports.contains(peer.getPort()))
                .toList();
    }
}
