package org.jrdma.sockets;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import javax.management.JMX;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the registry tells of connections; how it is kept is in {@link FabricSocketsTest}. */
@Timeout(30)
class ConnectionsTest {

    private static final Instant START = Instant.parse("2026-11-22T11:00:00Z");
    private static final Transport ABSENT = Transport.supersockets(Path.of("/nowhere/family"));
    private static final String WHY_ABSENT =
            "supersockets: driver not loaded: there is no /nowhere/family";

    @TempDir private Path folder;

    private static Connection connection(
            String peer, int port, boolean accepted, String transport, String why, long bytes)
            throws IOException {
        var address = InetAddress.getByAddress(peer, new byte[] {10, 77, 0, 1});
        return new Connection(
                new InetSocketAddress("10.77.0.2", 9000),
                new InetSocketAddress(address, port),
                accepted,
                transport,
                why,
                bytes,
                2 * bytes,
                START.plusSeconds(bytes));
    }

    @Test
    void shouldPrintThePeersAndHowEachIsConnected() throws Exception {
        assertThat(
                        Connections.report(
                                List.of(
                                        connection("storage02", 40_001, true, "tcp", "", 1),
                                        connection("storage02", 40_002, true, "tcp", "", 2),
                                        connection("storage01", 8003, false, "smc", "", 1000),
                                        connection("storage01", 8003, false, "smc", "", 2000),
                                        connection("storage01", 8003, false, "tcp", "smc: no", 5))))
                .isEqualTo(
                        """
                        storage01
                           smc: 2 (to 8003); 3,000 bytes received, 6,000 sent; since 2026-11-22T11:16:40Z
                           tcp: 1 (to 8003) [fall-back: smc: no]; 5 bytes received, 10 sent; since 2026-11-22T11:00:05Z
                        storage02
                           tcp: 2 (at 9000); 3 bytes received, 6 sent; since 2026-11-22T11:00:01Z
                        """);
        assertThat(Connections.report(List.of())).isEmpty();
    }

    @Test
    void shouldTellBothEndsOfAConnectionOverJmx() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var client =
                        FabricSockets.connect(
                                "127.0.0.1",
                                ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                                List.of(ABSENT, Transport.tcp()),
                                ofSeconds(10));
                var server = listener.accept()) {
            client.write(Bytes.of("abc"));
            Bytes.read(server, 3);
            var bean = bean();

            var own = Connection.name(client.getLocalAddress());
            var other = Connection.name(client.getRemoteAddress());
            assertThat(bean.getConnections())
                    .extracting(
                            ConnectionsMXBean.Line::local,
                            ConnectionsMXBean.Line::peer,
                            ConnectionsMXBean.Line::accepted,
                            ConnectionsMXBean.Line::transport,
                            ConnectionsMXBean.Line::whyNotFaster,
                            ConnectionsMXBean.Line::bytesReceived,
                            ConnectionsMXBean.Line::bytesSent)
                    .contains(
                            tuple(own, other, false, "tcp", WHY_ABSENT, 0L, 3L),
                            tuple(other, own, true, "tcp", "", 3L, 0L));
            assertThat(bean.getReport()).contains("127.0.0.1\n").contains(WHY_ABSENT);
            assertThat(bean.getSuperSocketsCounters()).isNotNull();
            bean.reloadPolicy(); // there is none
        }
    }

    /** The bean is registered soon after the first connection, on another thread. */
    private static ConnectionsMXBean bean() throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        var name = new ObjectName(ConnectionsMXBean.NAME);
        while (!server.isRegistered(name)) {
            Thread.sleep(10);
        }
        return JMX.newMXBeanProxy(server, name, ConnectionsMXBean.class);
    }

    @Test
    void shouldTellTheFlightRecorderOfConnectionsAndFallBacks() throws Exception {
        String peer;
        var file = folder.resolve("recording.jfr");
        try (var recording = new Recording();
                var listener = ChannelPair.listener(Implementation.TCP.provider())) {
            recording.enable("org.jrdma.SocketConnection");
            recording.enable("org.jrdma.SocketFallBack");
            recording.start();
            peer = Connection.name(listener.getLocalAddress());
            try (var client =
                    FabricSockets.connect(
                            "127.0.0.1",
                            ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                            List.of(ABSENT, Transport.tcp()),
                            ofSeconds(10))) {
                client.write(Bytes.of("abc"));
            }
            recording.stop();
            recording.dump(file);
        }

        var events =
                RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getString("peer").equals(peer))
                        .toList();
        assertThat(events).hasSize(2);
        var fallBack = events.getFirst();
        assertThat(fallBack.getEventType().getName()).isEqualTo("org.jrdma.SocketFallBack");
        assertThat(fallBack.getString("preferred")).isEqualTo(WHY_ABSENT);
        assertThat(fallBack.getString("taken")).isEqualTo("tcp");
        var connection = events.getLast();
        assertThat(connection.getEventType().getName()).isEqualTo("org.jrdma.SocketConnection");
        assertThat(connection.getString("transport")).isEqualTo("tcp");
        assertThat(connection.getString("whyNotFaster")).isEqualTo(WHY_ABSENT);
        assertThat(connection.getBoolean("accepted")).isFalse();
        assertThat(connection.getLong("bytesSent")).isEqualTo(3);
        assertThat(connection.getDuration()).isPositive();
    }

    @Test
    void shouldTellWhatTheDriversProgramPrints() throws Exception {
        var counters =
                new DriverCounters(List.of(folder.resolve("none"), program("echo \"$1 7\"")));

        assertThat(counters.read()).hasValue("-G 7\n");
        assertThat(new DriverCounters(List.of(folder.resolve("none"))).read()).isEmpty();
    }

    @Test
    void shouldTellWhyTheDriversProgramFails() throws Exception {
        var failing = program("echo no driver >&2; exit 3");

        assertThat(new DriverCounters(List.of(failing)).read())
                .hasValue(failing + " failed: no driver");
    }

    private Path program(String script) throws IOException {
        var program = Files.writeString(folder.resolve("dis_ssocks_stat"), "#!/bin/sh\n" + script);
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}
