package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.jrdma.cli.Jrdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The other side is a second process. */
class PerfCommandTest {

    private static final String FIGURE = " +\\d+\\.\\d\\d";

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return Jrdma.commandLine()
                .setOut(new PrintWriter(output, true))
                .setErr(new PrintWriter(errors, true))
                .execute(arguments);
    }

    @ParameterizedTest
    @CsvSource({
        "write, 'RDMA WRITE, on the software fabric', 1, 4K",
        "read, 'RDMA READ, on the software fabric', 8, 64K",
        "send, 'RDMA SEND, on the software fabric', 1, 4K",
        "pio, 'SISCI stores of the processor, on the software fabric', 8, 4K",
        "dma, 'SISCI DMA, on the software fabric', 8, 1M",
        "tcp, sockets over tcp, 1, 1M"
    })
    void shouldMeasureEveryPathBySize(String path, String description, String small, String large) {
        assertThat(run("perf", path, "--fabric=SOFTWARE", "-t20", "-s" + small + "," + large))
                .as(errors.toString())
                .isZero();

        assertThat(output.toString())
                .contains("\n" + path + ": " + description + "; microseconds for a message\n")
                .containsPattern("(?m)^ +" + small + FIGURE.repeat(4) + " +\\d+\\.\\d +\\d+$")
                .containsPattern("(?m)^ +" + large + FIGURE.repeat(4) + " +\\d+\\.\\d +\\d+$");
    }

    @ParameterizedTest
    @ValueSource(strings = {"fetch-add", "swap"})
    void shouldMeasureAtomicsOfTheOnlySizeThatTheyHave(String path) {
        assertThat(run("perf", path, "--fabric=SOFTWARE", "-t20")).as(errors.toString()).isZero();

        assertThat(output.toString()).containsPattern("(?m)^ +8" + FIGURE).hasLineCount(4);
    }

    @Test
    void shouldTellProgramsInOrder() {
        assertThat(run("perf", "tcp", "--json", "-t20", "-s4K,8")).isZero();

        assertThat(output.toString())
                .startsWith(
                        "[{\"path\":\"tcp\",\"fabric\":null,\"device\":null,\"bytes\":8,\"latency\":{\"samples\":")
                .contains("\"bytes\":4096,", "\"percentile99Point9\":")
                .endsWith("}}]\n")
                .hasLineCount(1);
        assertThat(errors.toString()).contains("tcp: 4096 bytes");
    }

    @Test
    void shouldPing() {
        assertThat(run("ping", "-c2", "-i40", "tcp")).isZero();

        assertThat(output.toString())
                .startsWith("tcp, 64 bytes: sockets over tcp\n")
                .containsPattern("(?m)^ +[\\d,]+ times: least \\d+\\.\\d\\d us, half within ")
                .hasLineCount(3);
    }

    @Test
    void shouldSayWhyAPathIsMissing() {
        assertThat(run("perf", "supersockets")).isEqualTo(1);

        assertThat(errors.toString()).startsWith("supersockets: not measured: driver not loaded");
    }

    @Test
    void shouldSayWhyThereIsNothingInCToCompareWith() {
        assertThat(run("perf", "write", "--compare", "--fabric=SOFTWARE", "-t20", "-s8,64"))
                .as(errors.toString())
                .isZero();

        assertThat(output.toString())
                .endsWith(
                        "in C not compared: the programs in C need an RDMA device, and this is the software fabric\n");
    }

    @Test
    void shouldTellProgramsOfTheComparisonToo() {
        assertThat(run("perf", "write", "--compare", "--json", "--fabric=SOFTWARE", "-t20", "-s8"))
                .isZero();

        assertThat(output.toString())
                .startsWith(
                        "[{\"java\":{\"path\":\"write\",\"fabric\":\"SOFTWARE\",\"device\":\"soft0\",\"bytes\":8,")
                .endsWith(
                        ",\"c\":null,\"missing\":\"the programs in C need an RDMA device, and this is the software fabric\"}]\n");
    }

    @Test
    void shouldSayThatADeviceIsMissing() {
        assertThat(run("ping", "write", "--fabric=SOFTWARE", "-dmlx5_0")).isEqualTo(1);

        assertThat(errors.toString()).contains("there is no device mlx5_0");
    }

    @Test
    void shouldSayThatNobodyServes() throws Exception {
        int free;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            free = socket.getLocalPort();
        }

        assertThat(run("ping", "tcp", "--connect", "127.0.0.1:" + free)).isEqualTo(1);

        assertThat(errors.toString()).contains("Nobody answers", "--serve");
    }

    @ParameterizedTest
    @CsvSource({
        "perf -s 64X, is no size",
        "perf --plot a.gif tcp, ends in .svg",
        "ping --connect host:x, is neither HOST nor HOST:PORT",
        "ping --fabric none, SYSTEM"
    })
    void shouldRefuseWhatMakesNoSense(String command, String reason) {
        assertThat(run(command.split(" "))).isEqualTo(2);

        assertThat(errors.toString()).contains(reason);
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf", "ping"})
    void shouldRefuseAPathThatThereIsNot(String command) {
        assertThat(run(command, "teleport")).isEqualTo(2);

        assertThat(errors.toString())
                .startsWith("There is no \"teleport\"; there are write, read")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"perf", "ping"})
    void shouldSayThatThePortIsTaken(String command) throws Exception {
        try (var other = new ServerSocket(0)) {
            var port = Integer.toString(other.getLocalPort());

            assertThat(run(command, "--serve=" + port)).isEqualTo(1);

            assertThat(errors.toString())
                    .startsWith("Port %s cannot be listened at: Address ".formatted(port))
                    .hasLineCount(1);
        }
    }

    @Test
    void shouldRefuseASizeThatAPathDoesNotMove() {
        assertThat(run("ping", "-s64", "swap", "--fabric=SOFTWARE")).isEqualTo(1);

        assertThat(errors.toString()).contains("swap moves 8 to 8 bytes");
    }
}
