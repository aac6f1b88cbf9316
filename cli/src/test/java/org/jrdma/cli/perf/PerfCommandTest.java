package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import java.io.IOException;
import java.io.StringWriter;
import java.net.ServerSocket;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jrdma.cli.JrdmaInProcess;
import org.jrdma.cli.StrictJson;
import org.jrdma.processes.FreePorts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the commands perf and ping with a child process as the peer. */
class PerfCommandTest {

    private static final String FIGURE = " +(?:\\d+\\.\\d\\d~?|-)";

    /** The bandwidth, the messages per second, and the time of a cache line. */
    private static final String RATES_AND_LINE = " +\\d+\\.\\d~? +\\d+ +\\d+$";

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return JrdmaInProcess.run(output, errors, arguments);
    }

    @ParameterizedTest
    @Tag("slow")
    @CsvSource({
        "write, 'RDMA WRITE, on the software fabric', 1, 4K",
        "pio, 'SISCI processor stores, on the software fabric', 8, 4K",
        "sisci, 'sockets over sisci, on the software fabric, to 127.0.0.1 by sisci', 1, 1M"
    })
    void shouldMeasureAPathBySize(String path, String description, String small, String large) {
        assertThat(run("perf", path, "--fabric=SOFTWARE", "-t20", "-s" + small + "," + large))
                .as(errors.toString())
                .isZero();

        assertThat(output.toString())
                .contains(
                        "\n"
                                + path
                                + ": "
                                + description
                                + "; latency per message in us; ~: unstable\n")
                .containsPattern("(?m)^ +" + small + FIGURE.repeat(4) + RATES_AND_LINE)
                .containsPattern("(?m)^ +" + large + FIGURE.repeat(4) + RATES_AND_LINE);
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({
        "read, 'RDMA READ, on the software fabric', 8, 64K",
        "send, 'RDMA SEND, on the software fabric', 1, 4K",
        "dma, 'SISCI DMA, one transfer at a time, on the software fabric', 8, 1M",
        "tcp, 'sockets over tcp, to 127.0.0.1 by tcp', 1, 1M"
    })
    void shouldMeasureEachOtherPathBySize(
            String path, String description, String small, String large) {
        shouldMeasureAPathBySize(path, description, small, large);
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"fetch-add", "swap"})
    void shouldMeasureAtomicsWithTheirOnlySize(String path) {
        assertThat(run("perf", path, "--fabric=software", "-t20")).as(errors.toString()).isZero();

        assertThat(output.toString()).containsPattern("(?m)^ +8" + FIGURE).hasLineCount(4);
    }

    @Test
    void shouldPrintJsonOrderedBySize() {
        assertThat(run("perf", "tcp", "--json", "-t20", "-s4K,8")).isZero();

        assertThat(output.toString())
                .startsWith(
                        "[{\"path\":\"tcp\",\"fabric\":null,\"device\":null,\"bytes\":8,\"latency\":{\"samples\":")
                .contains(
                        "\"bytes\":4096,", "\"percentile99Point9\":", "},\"stable\":{\"latency\":")
                .containsPattern("\"machine\":\\{\"cacheLineNanos\":[1-9]\\d*,\"loopNanos\":[1-9]")
                .endsWith(",\"connection\":\"to 127.0.0.1 by tcp\"}]\n")
                .hasLineCount(1);
        assertThat(StrictJson.parseObjects(output.toString()))
                .extracting(result -> result.get("bytes"))
                .containsExactly(8.0, 4096.0);
        assertThat(errors.toString())
                .startsWith(
                        "pass 1 of at most 15, sizes to measure: tcp 2\npass 2 of at most 15, sizes to measure: tcp 2\n")
                .contains("pass 5 of");
    }

    @Test
    void shouldPlotTheResults(@TempDir java.nio.file.Path folder) throws Exception {
        var plot = folder.resolve("x.svg");

        assertThat(run("perf", "tcp", "--plot", plot.toString(), "-t20", "-s8,64")).isZero();

        var lines =
                DocumentBuilderFactory.newInstance()
                        .newDocumentBuilder()
                        .parse(plot.toFile())
                        .getElementsByTagName("polyline");
        assertThat(lines.getLength()).isEqualTo(4); // three charts and the legend
        assertThat(lines.item(0).getAttributes().getNamedItem("points").getNodeValue())
                .matches("\\S+ \\S+");
        assertThat(errors.toString()).contains("Plot written to " + plot);
    }

    @Test
    void shouldPing() {
        assertThat(run("ping", "-c2", "-i40", "tcp")).isZero();

        assertThat(output.toString())
                .startsWith(
                        "tcp, 64 bytes: sockets over tcp, to 127.0.0.1 by tcp; latency per message in us\n")
                .containsPattern("(?m)^ +samples +min +p50 +p99 +p99.9 +max$")
                .containsPattern("(?m)^ +\\d+" + FIGURE.repeat(5) + "$")
                .hasLineCount(4);
    }

    @Tag("slow")
    @Test
    void shouldPingWithJson() {
        assertThat(run("ping", "write", "--json", "-c1", "-i40", "--fabric=SOFTWARE")).isZero();

        assertThat(output.toString())
                .startsWith(
                        "{\"path\":\"write\",\"fabric\":\"software\",\"device\":\"soft0\",\"bytes\":64,\"latency\":{\"samples\":")
                .hasLineCount(1)
                .satisfies(StrictJson::parse);
    }

    /** The output must contain the lines that were printed before the peer failed. */
    @Tag("slow")
    @Test
    void shouldPrintEachPingImmediately() throws Exception {
        var answers = new AtomicInteger();
        try (var host = new TestPeer(tcp(_ -> answers.incrementAndGet() == 100))) {
            assertThat(run("ping", "tcp", "--json", "-i40", "--connect", host.address()))
                    .isEqualTo(1);
        }

        assertThat(output.toString().lines())
                .hasSizeGreaterThan(1)
                .allSatisfy(line ->
                        assertThat(StrictJson.parse(line))
                                .asInstanceOf(MAP)
                                .containsEntry("path", "tcp"));
        assertThat(errors.toString()).contains("The peer reports: it broke");
    }

    @Test
    void shouldKeepResultsIfThePathFailsLater() throws Exception {
        try (var host = new TestPeer(tcp(bytes -> bytes == 64))) {
            assertThat(
                            run(
                                    "perf",
                                    "tcp",
                                    "--json",
                                    "--compare",
                                    "-t20",
                                    "-s8,64",
                                    "--connect",
                                    host.address()))
                    .isEqualTo(1);
        }

        assertThat(StrictJson.parseObjects(output.toString()))
                .singleElement(MAP)
                .containsEntry("missing", "the peer is on another machine")
                .extractingByKey("java", MAP)
                .containsEntry("bytes", 8.0);
        assertThat(errors.toString()).contains("tcp: failed: The peer reports: it broke");
    }

    /** Returns the path tcp, whose responding side fails for some sizes. */
    private static Path tcp(IntPredicate fails) {
        var tcp =
                Paths.named("tcp", Paths.all(Optional.of(Paths.Fabric.SOFTWARE), Optional.empty()));
        return new Path(
                "tcp",
                tcp.description(),
                tcp.provider(),
                tcp.smallest(),
                tcp.largest(),
                tcp.isRoundTrip(),
                (peer, largest, measures) ->
                        new FailingLink(tcp.opener().open(peer, largest, measures), fails));
    }

    private record FailingLink(LinkEnd link, IntPredicate fails) implements LinkEnd {
        @Override
        public void exchange(int bytes) throws IOException {
            link.exchange(bytes);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            if (fails.test(bytes)) {
                throw new IOException("it broke");
            }
            link.answer(bytes, count);
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            link.stream(bytes, count);
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            link.absorb(bytes, count);
        }

        @Override
        public void close() throws IOException {
            link.close();
        }
    }

    @Test
    void shouldContinueAfterAnInvalidAnswerFromThePeer() throws Exception {
        var invalidAnswer =
                new Path(
                        "tcp",
                        "",
                        1,
                        64,
                        true,
                        Optional.empty(),
                        (peer, _, _) -> {
                            peer.send("no port");
                            throw new IOException("enough");
                        });
        try (var host = new TestPeer(invalidAnswer)) {
            assertThat(
                            run(
                                    "perf",
                                    "tcp",
                                    "tcp",
                                    "--json",
                                    "-s8",
                                    "-t20",
                                    "--connect",
                                    host.address()))
                    .isEqualTo(1);
        }

        assertThat(output.toString()).isEqualTo("[]\n");
        assertThat(errors.toString().lines().filter(line -> line.startsWith("tcp: failed: ")))
                .hasSize(2);
        assertThat(errors.toString())
                .contains("pass 1 of at most 15, sizes to measure: tcp 1, tcp 1\n")
                .doesNotContain("pass 2");
    }

    @Test
    void shouldKeepTheResultsOfEarlierPassesIfAPathFails() throws Exception {
        var opened = new AtomicInteger();
        var tcp = tcp(_ -> false);
        var failsLater =
                new Path(
                        "tcp",
                        tcp.description(),
                        tcp.smallest(),
                        tcp.largest(),
                        tcp.isRoundTrip(),
                        Optional.empty(),
                        (peer, largest, measures) -> {
                            if (opened.incrementAndGet() == 3) {
                                throw new IOException("it broke");
                            }
                            return tcp.opener().open(peer, largest, measures);
                        });
        try (var host = new TestPeer(failsLater)) {
            assertThat(run("perf", "tcp", "--json", "-s8,64", "-t20", "--connect", host.address()))
                    .isEqualTo(1);
        }

        assertThat(StrictJson.parseObjects(output.toString()))
                .extracting(result -> result.get("bytes"))
                .containsExactly(8.0, 64.0);
        assertThat(errors.toString())
                .contains("pass 3 of at most 15, sizes to measure: tcp 2\ntcp: failed: ")
                .contains("it broke")
                .doesNotContain("pass 4");
    }

    @Test
    void shouldReportWhyThereIsNoDeviceToCompareWith() {
        assertThat(run("perf", "tcp", "--json", "--compare", "--fabric=SYSTEM", "-t20", "-s8,64"))
                .as(errors.toString())
                .isZero();

        assertThat(StrictJson.parseObjects(output.toString()))
                .hasSize(2)
                .allSatisfy(figures -> assertThat(figures.get("missing")).isNotNull());
    }

    @Tag("slow")
    @Test
    void shouldReportUnsupportedSizes() {
        assertThat(run("perf", "pio", "--fabric=SOFTWARE", "-t20", "-s4,8,128M")).isZero();
        assertThat(run("perf", "pio", "--fabric=SOFTWARE", "-t20", "-s4")).isEqualTo(1);

        assertThat(output.toString()).hasLineCount(4);
        assertThat(errors.toString())
                .startsWith(
                        """
                        pio: not measured with 4: it supports 8 to 64M bytes
                        pio: not measured with 128M: it supports 8 to 64M bytes
                        pass 1 of at most 15, sizes to measure: pio 1
                        """)
                .endsWith("pio: not measured: it supports 8 to 64M bytes\n");
    }

    /** The address is reserved for documentation. Nothing is sent to it. */
    @Test
    void shouldReportPathsThatCannotReachAnotherMachine() {
        assertThat(run("perf", "write", "pio", "--fabric=SOFTWARE", "--connect=192.0.2.1"))
                .isEqualTo(1);

        assertThat(errors.toString())
                .containsPattern(
                        "write: not measured: the software device uses\\s+127\\.0\\.0\\.\\d+,")
                .contains("JRDMA_JAVA_OPTIONS=-Djrdma.soft.devices=eth0")
                .contains(
                        "pio: not measured: the software fabric of SISCI is limited to one machine");
    }

    /** The address is reserved for documentation. Nothing is sent to it. */
    @Test
    void shouldReportTheSameReasonOnce() {
        assertThat(run("perf", "pio", "dma", "--fabric=SOFTWARE", "--connect=192.0.2.1"))
                .isEqualTo(1);

        assertThat(errors.toString())
                .startsWith("pio, dma: not measured: the software fabric of SISCI is limited")
                .containsOnlyOnce("not measured");
    }

    @Test
    void shouldReportWhyAPathIsUnavailable() {
        assertThat(run("perf", "supersockets")).isEqualTo(1);

        assertThat(errors.toString()).startsWith("supersockets: not measured: driver not loaded");
    }

    @Tag("slow")
    @Test
    void shouldReportWhyThereIsNoBaseline() {
        assertThat(run("perf", "write", "--compare", "--fabric=SOFTWARE", "-t20", "-s8,64"))
                .as(errors.toString())
                .isZero();

        assertThat(output.toString())
                .endsWith(
                        "in C not compared: the C programs need an RDMA device and cannot use the software fabric\n");
    }

    @Tag("slow")
    @Test
    void shouldPrintTheComparisonAsJson() {
        assertThat(
                        run(
                                "perf",
                                "write",
                                "--compare",
                                "--json",
                                "--fabric=SOFTWARE",
                                "-t20",
                                "-s8,64"))
                .isZero();

        assertThat(StrictJson.parseObjects(output.toString())).hasSize(2);

        assertThat(output.toString())
                .startsWith(
                        "[{\"java\":{\"path\":\"write\",\"fabric\":\"software\",\"device\":\"soft0\",\"bytes\":8,")
                .endsWith(
                        ",\"c\":null,\"missing\":\"the C programs need an RDMA device and cannot use the software fabric\"}]\n");
    }

    @Test
    void shouldReportAMissingDevice() {
        assertThat(run("ping", "write", "--fabric=SOFTWARE", "-dmlx5_0")).isEqualTo(1);

        assertThat(errors.toString()).contains("there is no device mlx5_0");
    }

    @Test
    void shouldReportAnUnreachablePeer() throws Exception {
        var free = FreePorts.one();

        assertThat(run("ping", "tcp", "--connect", "127.0.0.1:" + free)).isEqualTo(1);
        assertThat(run("perf", "tcp", "tcp", "--json", "--connect", "127.0.0.1:" + free))
                .isEqualTo(1);

        assertThat(run("perf", "--connect", "127.0.0.1:" + free)).isEqualTo(1);

        assertThat(errors.toString().lines())
                .hasSize(3)
                .allMatch(line -> line.startsWith("Cannot connect to 127.0.0.1:"))
                .allMatch(line -> line.contains("--serve"));
    }

    @ParameterizedTest
    @CsvSource({
        "perf -s 64X, is not a size",
        "perf --plot a.gif tcp, end in .svg",
        "ping --connect host:x, is neither HOST nor HOST:PORT",
        "perf -t 0 tcp, at least 1",
        "ping -i 0 tcp, at least 1",
        "ping -c 0 tcp, from 1 to",
        "ping -c many tcp, '\"many\" is not a whole number from 1 to 2147483647'",
        "perf --serve=99999, 'Invalid value for option ''--serve'': \"99999\" is not a whole number from 0 to 65535'",
        "net -p first, '\"first\" is not a process ID'",
        "ping --fabric none, '\"none\" is neither system nor software'"
    })
    void shouldRejectInvalidArguments(String command, String reason) {
        assertThat(run(command.split(" "))).isEqualTo(2);

        assertThat(errors.toString()).contains(reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf", "ping"})
    void shouldRejectAnUnknownPath(String command) {
        assertThat(run(command, "teleport")).isEqualTo(2);

        assertThat(errors.toString())
                .startsWith("There is no path \"teleport\". The paths are write, read")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf", "ping"})
    void shouldReportAPortInUse(String command) throws Exception {
        try (var usedPort = new ServerSocket(0)) {
            var port = Integer.toString(usedPort.getLocalPort());

            assertThat(run(command, "--serve=" + port)).isEqualTo(1);

            assertThat(errors.toString())
                    .startsWith("Cannot listen on port %s: Address ".formatted(port))
                    .hasLineCount(1);
        }
    }

    @Test
    void shouldRejectAnUnsupportedSize() {
        assertThat(run("ping", "-s64", "swap", "--fabric=SOFTWARE")).isEqualTo(1);

        assertThat(errors.toString()).contains("swap supports messages of 8 to 8 bytes");
    }
}
