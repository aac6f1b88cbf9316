package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.jrdma.cli.Jrdma;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/** Tests the jrdma command on a host that has Java, but no RDMA libraries or devices. */
class JrdmaCommandTest {

    private static final String COMMAND = "org.jrdma.cli/org.jrdma.cli.Jrdma";

    @Test
    void shouldListDevicesWithoutHardware() throws Exception {
        try (var network = Network.newNetwork();
                var host = ProgramContainer.running(network, "bare", COMMAND, "devices")) {
            assertThat(host.await()).as(host.output()).isZero();

            assertThat(host.output())
                    .containsPattern("(?m)^RDMA, system: libibverbs\\.so\\.1 could not be opened")
                    .containsPattern("(?m)^      selected  GID 0: ::ffff:[\\d.]+ of eth0: RoCE v2")
                    .containsPattern("(?m)^  adapter 0: node \\d+, link up$");
        }
    }

    @Test
    void shouldReportMissingLibrariesAndDevicesOfAContainer() throws Exception {
        try (var network = Network.newNetwork();
                var host = ProgramContainer.running(network, "bare", COMMAND, "doctor")) {
            host.await();

            assertThat(host.output())
                    .containsPattern(
                            "(?m)^absent +libibverbs  +libibverbs\\.so\\.1 could not be opened")
                    .containsPattern("(?m)^absent +RDMA devices  +none$")
                    .containsPattern("(?m)^doubtful +/dev/shm  +67,108,864 bytes")
                    .contains("--shm-size 1g")
                    .containsPattern("(?m)^\\w+ +locked memory  ");
        }
    }

    @Test
    void shouldMeasureBetweenTwoHosts() throws Exception {
        try (var network = Network.newNetwork();
                var server =
                        ProgramContainer.running(network, "server", COMMAND, "perf", "--serve")) {
            server.awaitOutput("waiting on port 18516");
            try (var client =
                    ProgramContainer.running(
                            network,
                            "client",
                            COMMAND,
                            "perf",
                            "--connect",
                            "server",
                            "-s64,4K",
                            "-t100",
                            "write",
                            "tcp")) {
                assertThat(client.await()).as(client.output() + server.output()).isZero();

                assertThat(client.output())
                        .containsPattern(
                                "write: RDMA WRITE, on the software fabric;.*\n.*\n +64 .*\n +4K ")
                        .containsPattern(
                                "tcp: sockets over tcp, to \\S+ by tcp;.*\n.*\n +64 .*\n +4K ");
            }
        }
    }

    @Test
    void shouldPingAnotherHost() throws Exception {
        try (var network = Network.newNetwork();
                var server =
                        ProgramContainer.running(network, "server", COMMAND, "ping", "--serve")) {
            server.awaitOutput("waiting on port 18516");
            try (var client =
                    ProgramContainer.running(
                            network, "client", COMMAND, "ping", "--connect", "server", "-c2")) {
                assertThat(client.await()).as(client.output() + server.output()).isZero();

                assertThat(client.output())
                        .startsWith(
                                "write, 64 bytes: RDMA WRITE, on the software fabric; latency per"
                                        + " message in us\n")
                        .containsPattern("\n +samples +min .*(\n +\\d+ .*){2}\n");
            }
        }
    }

    /** In this test, the ping command starts two JVMs that are connected by a stream. */
    @Test
    void shouldListTheStreamsOfJvmsInTheSameContainer() throws Exception {
        try (var network = Network.newNetwork();
                var host = ProgramContainer.running(network, "busy", COMMAND, "ping", "tcp")) {
            host.awaitOutput(" samples ");

            assertThat(host.runBeside(COMMAND, "net"))
                    .containsPattern("(?m)^ +tcp: 1 \\(at \\d+\\); [\\d,]+ bytes received, ")
                    .containsPattern("(?m)^ +tcp: 1 \\(to \\d+\\); [\\d,]+ bytes received, ")
                    .doesNotContain(": unknown: ");
        }
    }

    @Test
    void shouldReportFromOutsideThatAJvmIsInAContainer() throws Exception {
        var output = new StringWriter();
        try (var network = Network.newNetwork();
                var host = ProgramContainer.running(network, "busy", COMMAND, "ping", "tcp")) {
            host.awaitOutput(" samples ");
            var pid = Long.toString(host.pid());

            var code =
                    Jrdma.commandLine()
                            .setOut(new PrintWriter(output, true))
                            .execute("net", "--pid", pid);

            assertThat(output.toString())
                    .contains(
                            "process %s, %s: unknown: ".formatted(pid, COMMAND),
                            "in a container or other PID namespace): ",
                            "-Djrdma.sockets.report=FILE");
            assertThat(code).isOne();
        }
    }
}
