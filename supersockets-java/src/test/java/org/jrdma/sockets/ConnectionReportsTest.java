package org.jrdma.sockets;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.List;
import javax.management.JMX;
import javax.management.ObjectName;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.Connection;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.model.ConnectionsSnapshot;
import org.jrdma.sockets.model.Transport;
import org.jrdma.sockets.report.SuperSocketsCounters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests reports about connections. {@link FabricSocketsTest} tests the list of open streams. */
@Timeout(30)
class ConnectionReportsTest {

    private static final Instant START = Instant.parse("2026-11-22T11:00:00Z");
    private static final Transport ABSENT = Transports.supersockets(Path.of("/nowhere/family"));
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
    void shouldPrintTheConnectionsOfEachPeer() throws Exception {
        assertThat(
                        report(
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
                           tcp: 1 (to 8003) [fallback: smc: no]; 5 bytes received, 10 sent; since 2026-11-22T11:00:05Z
                        storage02
                           tcp: 2 (at 9000); 3 bytes received, 6 sent; since 2026-11-22T11:00:01Z
                        """);
        assertThat(report(List.of())).isEmpty();
    }

    @Test
    void shouldReadAReportThatAProcessHasWritten() throws Exception {
        var written =
                snapshot(
                        List.of(
                                connection("storage01", 8003, false, "tcp", "smc:\tno\nway", 5),
                                connection("storage02", 40_001, true, "sisci", "", 1)));
        var file = Files.write(folder.resolve("report"), written.lines());

        var read = ConnectionsSnapshot.read(file);

        assertThat(read.connections())
                .extracting(ConnectionsMXBean.Line::whyNotFaster)
                // Control characters have been replaced, so they do not start a new field or line.
                .containsExactly("smc: no way", "");
        assertThat(read.connections().getLast()).isEqualTo(written.connections().getLast());
        assertThat(read.report()).isEqualTo(written.report().replace("\tno\nway", " no way"));
        assertThat(read)
                .returns(4711L, ConnectionsSnapshot::process)
                .returns("org.example.Storage", ConnectionsSnapshot::program)
                .returns(START, ConnectionsSnapshot::taken)
                .returns(true, ConnectionsSnapshot::isLast);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "root:x:0:0",
                "jrdma sockets\tprocess 1\ta.B\t2026-11-22T11:00:00Z\trunning",
                "jrdma sockets\tprocess 1\ta.B\tnoon\trunning\nCOLUMNS",
                "jrdma sockets\tprocess 1\ta.B\t2026-11-22T11:00:00Z\trunning\nCOLUMNS\nlocal\tpeer",
                "jrdma sockets\tprocess 1\ta.B\t2026-11-22T11:00:00Z\trunning\nCOLUMNS\na\tb\ttrue\ttcp\tmany\t2\t3\t4"
            })
    void shouldRejectAFileThatIsNotAReport(String text) throws Exception {
        var columns = snapshot(List.of()).lines().getLast();
        var file = Files.writeString(folder.resolve("file"), text.replace("COLUMNS", columns));

        assertThatThrownBy(() -> ConnectionsSnapshot.read(file))
                .isInstanceOf(FabricException.class)
                .hasMessage(
                        file
                                + " is not a report that a process writes with -Djrdma.sockets.report");
    }

    @Test
    void shouldRejectAMissingFile() {
        assertThatThrownBy(() -> ConnectionsSnapshot.read(folder.resolve("none")))
                .hasMessage("There is no file " + folder.resolve("none"));
    }

    /**
     * A program that connects two streams to itself, closes one of them, and keeps the other one
     * open until its standard input ends.
     */
    public static final class Storage {

        private Storage() {}

        /** Prints the port of the listener after the streams have been connected. */
        public static void main(String... arguments) throws Exception {
            try (var listener = ChannelPair.listener(Implementation.TCP.provider())) {
                var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
                connect(port).close();
                listener.accept().close();
                try (var client = connect(port);
                        var server = listener.accept()) {
                    client.write(TestBytes.of("abc"));
                    TestBytes.read(server, 3);
                    while (System.getProperty(ConnectionsMXBean.PROPERTY) == null) {
                        Thread.sleep(10); // Waits until the reports have started.
                    }
                    System.out.println(port);
                    while (System.in.read() >= 0) {
                        // Reaches the end of the input.
                    }
                    System.exit(0); // Exits while both channels of the second stream are open.
                }
            }
        }

        private static SocketChannel connect(int port) throws IOException {
            return FabricSockets.connect(
                    "127.0.0.1", port, List.of(ABSENT, Transports.tcp()), ofSeconds(10));
        }
    }

    private static Process start(String... options) throws IOException {
        return ChildJvm.of(Storage.class, List.of(options)).start();
    }

    private static String port(BufferedReader output) {
        return output.lines().filter(line -> line.matches("\\d+")).findFirst().orElseThrow();
    }

    @Test
    void shouldWriteAReportWhileTheProcessRunsAndWhenItExits() throws Exception {
        var process = start("-Djrdma.sockets.report=" + folder.resolve("report-%p"));
        var file = folder.resolve("report-" + process.pid());
        try (var output = process.inputReader()) {
            var port = port(output);
            while (!Files.exists(file)
                    || !ConnectionsSnapshot.read(file).report().contains("3 bytes received")) {
                assertThat(process.isAlive()).isTrue();
                Thread.sleep(20);
            }
            assertThat(ConnectionsSnapshot.read(file).isLast()).isFalse();

            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();

            var last = ConnectionsSnapshot.read(file);
            assertThat(last.isLast()).isTrue();
            assertThat(last.process()).isEqualTo(process.pid());
            assertThat(last.program()).isEqualTo(Storage.class.getName());
            assertThat(last.report())
                    .startsWith(
                            "127.0.0.1\n   tcp: 1 (at %s); 3 bytes received, 0 sent; since "
                                    .formatted(port))
                    .contains(
                            "   tcp: 1 (to %s) [fallback: %s]; 0 bytes received, 3 sent; since "
                                    .formatted(port, WHY_ABSENT))
                    .hasLineCount(3);
            try (var files = Files.list(folder)) {
                assertThat(files).containsExactly(file);
            }
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldNotFollowASymbolicLinkThatAnotherUserHasCreated() throws Exception {
        var file = folder.resolve("report");
        var other = Files.writeString(folder.resolve("other"), "of another user");
        Files.createSymbolicLink(folder.resolve("report.new"), other);
        var process = start("-Djrdma.sockets.report=" + file);
        try {
            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();

            assertThat(other).hasContent("of another user");
            assertThat(ConnectionsSnapshot.read(file).isLast()).isTrue();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldContinueIfTheReportCannotBeWritten() throws Exception {
        var process = start("-Djrdma.sockets.report=/nowhere/report");
        try (var output = process.inputReader()) {
            process.getOutputStream().close(); // Ends the process, which writes a last report.

            assertThat(output.lines().toList())
                    .noneMatch(line -> line.contains("\tat "))
                    .filteredOn(line -> line.contains("/nowhere/report"))
                    .singleElement()
                    .asString()
                    .endsWith("/nowhere/report cannot be written: there is no /nowhere");
            assertThat(process.waitFor()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldRecordTheOpenStreamsAtTheEndOfARecording() throws Exception {
        var file = folder.resolve("recording.jfr");
        var process = start("-XX:StartFlightRecording:filename=" + file);
        try (var output = process.inputReader()) {
            var port = port(output);
            process.getOutputStream().close();
            assertThat(process.waitFor()).isZero();

            var open =
                    RecordingFile.readAllEvents(file).stream()
                            .filter(event ->
                                    event.getEventType().getName().equals("org.jrdma.SocketOpen"))
                            .toList();
            assertThat(open)
                    .extracting(
                            event -> event.getString("transport"),
                            event -> event.getBoolean("accepted"),
                            event -> event.getLong("bytesReceived"),
                            event -> event.getLong("bytesSent"))
                    .containsExactlyInAnyOrder(
                            tuple("tcp", false, 0L, 3L), tuple("tcp", true, 3L, 0L));
            assertThat(open)
                    .filteredOn(event -> event.getBoolean("accepted"))
                    .extracting(event -> event.getString("local"))
                    .containsExactly("127.0.0.1:" + port);
        } finally {
            process.destroyForcibly();
        }
    }

    private static String report(List<Connection> connections) {
        return snapshot(connections).report();
    }

    private static ConnectionsSnapshot snapshot(List<Connection> connections) {
        return new ConnectionsSnapshot(
                4711,
                "org.example.Storage",
                START,
                true,
                connections.stream().map(ConnectionsMXBean.Line::of).toList());
    }

    @Test
    void shouldReportBothEndsOfAConnectionOverJmx() throws Exception {
        try (var listener = ChannelPair.listener(Implementation.TCP.provider());
                var client =
                        FabricSockets.connect(
                                "127.0.0.1",
                                ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                                List.of(ABSENT, Transports.tcp()),
                                ofSeconds(10));
                var server = listener.accept()) {
            client.write(TestBytes.of("abc"));
            TestBytes.read(server, 3);
            var bean = bean();

            var own = AddressText.of(client.getLocalAddress());
            var other = AddressText.of(client.getRemoteAddress());
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
            assertThat(bean.getSuperSocketsCounters().isEmpty())
                    .isEqualTo(OpenConnections.superSocketsCounters().isEmpty());
            bean.reloadPolicy();
        }
    }

    /** Waits until another thread has registered the bean, soon after the first connection. */
    private static ConnectionsMXBean bean() throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        var name = new ObjectName(ConnectionsMXBean.NAME);
        while (!server.isRegistered(name)) {
            Thread.sleep(10);
        }
        return JMX.newMXBeanProxy(server, name, ConnectionsMXBean.class);
    }

    @Test
    void shouldRecordConnectionsAndFallbacksInTheFlightRecorder() throws Exception {
        String peer;
        var file = folder.resolve("recording.jfr");
        try (var recording = new Recording();
                var listener = ChannelPair.listener(Implementation.TCP.provider())) {
            recording.enable("org.jrdma.SocketConnection");
            recording.enable("org.jrdma.SocketFallback");
            recording.start();
            peer = AddressText.of(listener.getLocalAddress());
            try (var client =
                    FabricSockets.connect(
                            "127.0.0.1",
                            ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                            List.of(ABSENT, Transports.tcp()),
                            ofSeconds(10))) {
                client.write(TestBytes.of("abc"));
            }
            recording.stop();
            recording.dump(file);
        }

        var events =
                RecordingFile.readAllEvents(file).stream()
                        .filter(event -> event.getString("peer").equals(peer))
                        .toList();
        assertThat(events).hasSize(2);
        var fallback = events.getFirst();
        assertThat(fallback.getEventType().getName()).isEqualTo("org.jrdma.SocketFallback");
        assertThat(fallback.getString("preferred")).isEqualTo(WHY_ABSENT);
        assertThat(fallback.getString("used")).isEqualTo("tcp");
        var connection = events.getLast();
        assertThat(connection.getEventType().getName()).isEqualTo("org.jrdma.SocketConnection");
        assertThat(connection.getString("transport")).isEqualTo("tcp");
        assertThat(connection.getString("whyNotFaster")).isEqualTo(WHY_ABSENT);
        assertThat(connection.getBoolean("accepted")).isFalse();
        assertThat(connection.getLong("bytesSent")).isEqualTo(3);
        assertThat(connection.getDuration()).isPositive();
    }

    @Test
    void shouldReturnTheOutputOfTheDriverProgram() throws Exception {
        var counters =
                new SuperSocketsCounters(List.of(folder.resolve("none"), program("echo \"$1 7\"")));

        assertThat(counters.read()).hasValue("-G 7\n");
        assertThat(new SuperSocketsCounters(List.of(folder.resolve("none"))).read()).isEmpty();
    }

    @Test
    void shouldReturnTheErrorOutputOfTheDriverProgram() throws Exception {
        var failing = program("echo no driver >&2; exit 3");

        assertThat(new SuperSocketsCounters(List.of(failing)).read())
                .hasValue(failing + " failed: no driver");
    }

    private Path program(String script) throws IOException {
        var program = Files.writeString(folder.resolve("dis_ssocks_stat"), "#!/bin/sh\n" + script);
        return Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }
}
