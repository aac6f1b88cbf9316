package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests the command on a machine with the kernel drivers rdma_rxe and siw. */
@Tag("real-kernel")
class RealKernelTest {

    private static final String ROW =
            " +in C +\\d+\\.\\d\\d +\\d+\\.\\d   Java / C: latency (\\d+\\.\\d\\d|-), MB/s (\\d+\\.\\d\\d|-)\n";
    private static final String ROW_OF_64 = " +64\n" + ROW;
    private static final String ROW_OF_4K = " +4K\n" + ROW;

    private final StringWriter output = new StringWriter();

    private int run(String... arguments) {
        return Jrdma.commandLine().setOut(new PrintWriter(output, true)).execute(arguments);
    }

    @Test
    void shouldListTheKernelsDevicesAndTheirSourceAddresses() {
        assertThat(run("devices")).isZero();

        assertThat(output.toString())
                .containsPattern("(?m)^RDMA, system: /.*/libibverbs\\.so\\.1\\..*$")
                .containsPattern(
                        "(?m)^  rxe0: channel-adapter, infiniband\n    port 1: active, ethernet, MTU \\d+\n      selected  GID \\d+: ::ffff:[\\d.]+ of \\w+: RoCE v2, an IPv4 address$")
                .containsPattern("(?m)^  siw0: rnic, iwarp\n    port 1: active")
                .contains("\n  rsocket       available\n");
    }

    @Test
    void shouldReportNoFaultOfTheKernelsDevices() {
        assertThat(run("doctor")).as(output.toString()).isZero();

        assertThat(output.toString())
                .containsPattern("(?m)^fine +rxe0  +/dev/infiniband/uverbs\\d can be opened$")
                .containsPattern("(?m)^fine +rxe0 port 1  +active$")
                .containsPattern("(?m)^fine +rxe0 port 1 addresses  +\\d+ GIDs")
                .containsPattern("(?m)^\\w+ +rxe0 port 1 MTU  +\\w+ has \\d+")
                .containsPattern("(?m)^fine +siw0 port 1  +active$")
                .doesNotContain("siw0 port 1 addresses")
                .containsPattern("(?m)^fine +rdma_cm  +/dev/infiniband/rdma_cm can be opened$")
                .containsPattern("(?m)^doubtful +UDP port 4791  +in use at all addresses");
    }

    @Test
    void shouldMeasureTheKernelsDevice() {
        assertThat(run("perf", "write", "read", "send", "-drxe0", "-s64,4K", "-t100")).isZero();

        assertThat(output.toString())
                .containsPattern("write: RDMA WRITE;.*\n.*\n +64 .*\n +4K ")
                .containsPattern("read: RDMA READ;.*\n.*\n +64 .*\n +4K ")
                .containsPattern("send: RDMA SEND;.*\n.*\n +64 .*\n +4K ");
    }

    @Test
    void shouldCompareWithTheProgramsInC() {
        assertThat(run("perf", "write", "read", "send", "--compare", "-drxe0", "-s64,4K", "-t100"))
                .as("%s", output)
                .isZero();

        var rows = ROW_OF_64 + ROW_OF_4K;
        assertThat(output.toString())
                .containsPattern("write: RDMA WRITE;(.*\n){4}" + rows)
                .containsPattern("read: RDMA READ;(.*\n){4}" + rows)
                .containsPattern("send: RDMA SEND;(.*\n){4}" + rows);
    }

    @Test
    void shouldPingOverTheKernelsDevice() {
        assertThat(run("ping", "-c2", "-i200", "-drxe0")).isZero();

        assertThat(output.toString())
                .startsWith("write, 64 bytes: RDMA WRITE; latency per message in us\n")
                .containsPattern("\n +samples +min .*(\n +\\d+ .*){2}\n");
    }

    private static Program start(String... arguments) throws Exception {
        return JrdmaProcess.start(List.of(), List.of(arguments));
    }

    @Test
    void shouldListTheStreamsOverTheKernelsDevice() throws Exception {
        try (var server = start("ping", "--serve")) {
            server.awaitOutput("waiting on port");
            try (var client = start("ping", "rsocket", "--connect", "10.77.0.1")) {
                client.awaitOutput(" samples ");

                assertThat(run("net", "--pid", client.pid())).as(output.toString()).isZero();

                assertThat(output.toString())
                        .startsWith(
                                "process %s, %s\n".formatted(client.pid(), Jrdma.class.getName()))
                        .containsPattern("(?m)^ +rsocket: 1 \\(to \\d+\\); ");
            }
        }
    }

    @Test
    void shouldMeasureRsocketsAtTheDevicesAddressAndCompareWithRstream() {
        assertThat(run("perf", "rsocket", "--compare", "-drxe0", "-s64,4K", "-t100")).isZero();

        assertThat(output.toString())
                .containsPattern(
                        "rsocket: sockets over rsocket, to 10.77.0.1 by rsocket;(.*\n){4}"
                                + ROW_OF_64
                                + ROW_OF_4K);
    }

    @Test
    void shouldReportThatIwarpIsNotMeasured() {
        var errors = new StringWriter();

        var code =
                Jrdma.commandLine()
                        .setErr(new PrintWriter(errors, true))
                        .execute("perf", "write", "-dsiw0");

        assertThat(code).isEqualTo(1);
        assertThat(errors.toString()).contains("iWARP connects through rdma_cm only");
    }
}
