package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JrdmaTest {

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return Jrdma.commandLine()
                .setOut(new PrintWriter(output, true))
                .setErr(new PrintWriter(errors, true))
                .execute(arguments);
    }

    @Test
    void shouldListTheDevicesOfTheSoftwareFabrics() {
        assertThat(run("devices")).isZero();

        assertThat(output.toString())
                .containsPattern("(?m)^RDMA, system: .+$")
                .containsPattern("(?m)^RDMA, software: .+$")
                .containsPattern(
                        "(?m)^  soft0: .+\n    port 1: ACTIVE, ETHERNET, MTU 4096\n      chosen GID 0: ::ffff:127\\.0\\.0\\.\\d+ of lo: RoCE v2, an IPv4 address$")
                .containsPattern("(?m)^SISCI, system: .+$")
                .containsPattern("(?m)^SISCI, software: .+\n  adapter 0: this is node \\d+")
                .containsPattern(
                        "\nSockets, .+:\n  supersockets: not here: driver not loaded: .+\n  sisci: .+\n  rsocket: .+\n  smc: .+\n  tcp: available\n$");
    }

    @Test
    void shouldListThemForPrograms() {
        assertThat(run("devices", "--json")).isZero();

        assertThat(output.toString())
                .startsWith("{\"rdma\":[{\"fabric\":\"system\",")
                .contains("\"name\":\"soft0\"", "\"reason\":\"RoCE v2, an IPv4 address\"")
                .contains(
                        ",\"sockets\":[{\"name\":\"supersockets\",\"missing\":\"driver not loaded")
                .endsWith("{\"name\":\"tcp\",\"missing\":null}]}\n")
                .hasLineCount(1)
                .satisfies(StrictJson::parse);
    }

    @Test
    void shouldExamineThisMachine() {
        var code = run("doctor");

        assertThat(output.toString())
                .containsPattern("(?m)^fine      Java: ")
                .containsPattern("(?m)^fine      native access: ")
                .containsPattern("(?m)^\\w+ +close\\(\\): uses ")
                .containsPattern("(?m)^\\w+ +RDMA devices: |(?m)^\\w+ +rdma_cm: ")
                .containsPattern("(?m)^\\w+ +locked memory: ")
                .containsPattern("(?m)^\\d+ broken, \\d+ doubtful\n\\z");
        assertThat(code).isEqualTo(output.toString().contains("\n0 broken") ? 0 : 1);
    }

    @Test
    void shouldExamineItForPrograms() {
        run("doctor", "--json");

        assertThat(output.toString())
                .startsWith("[{\"subject\":\"Java\",\"verdict\":\"FINE\",\"seen\":")
                .hasLineCount(1)
                .satisfies(StrictJson::parse);
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "doctor", "net", "perf", "ping"})
    void shouldExplainItsCommands(String command) {
        assertThat(run(command, "--help")).isZero();

        assertThat(output.toString()).startsWith("Usage: jrdma " + command).contains("--json");
    }

    @Test
    void shouldRefuseACommandThatThereIsNot() {
        assertThat(run("devises")).isEqualTo(2);

        assertThat(errors.toString()).contains("devises").contains("devices");
    }
}
