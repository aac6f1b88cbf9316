package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;

class JrdmaTest {

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int run(String... arguments) {
        return JrdmaInProcess.run(output, errors, arguments);
    }

    @Test
    void shouldListTheDevicesOfTheSoftwareFabrics() {
        assertThat(run("devices")).isZero();

        assertThat(output.toString())
                .containsPattern("(?m)^RDMA, system: .+$")
                .containsPattern("(?m)^RDMA, software: .+$")
                .containsPattern(
                        "(?m)^  soft0: .+\n    port 1: active, ethernet, MTU 4096\n      selected  GID 0: ::ffff:127\\.0\\.0\\.\\d+ of lo: RoCE v2, an IPv4 address$")
                .containsPattern("(?m)^SISCI, system: .+$")
                .containsPattern("(?m)^SISCI, software: .+\n  adapter 0: node \\d+")
                .containsPattern(
                        "\nSocket transports, .+:\n  supersockets  unavailable: driver not loaded: [^:]+\n  sisci         [^:]+(:.+)?\n  rsocket       [^:]+(:.+)?\n  smc           (.+\n)+  tcp           available\n$");
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "doctor", "example", "help"})
    void shouldPrintLinesThatFitATerminal(String command) {
        run(command);

        assertThat(output.toString().lines()).isNotEmpty().allMatch(line -> line.length() <= 80);
    }

    @Test
    void shouldRejectAnUnknownSystemPropertyInOneLine() {
        System.setProperty("jrdma.fabrik", "software");
        try {
            assertThat(run("devices")).isEqualTo(2);
        } finally {
            System.clearProperty("jrdma.fabrik");
        }

        assertThat(output.toString()).isEmpty();
        assertThat(errors.toString())
                .isEqualTo(
                        "Unknown system property jrdma.fabrik. Did you mean jrdma.fabric? See jrdma --help.\n");
    }

    @Test
    void shouldListTheDevicesAsJson() {
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
    void shouldDiagnoseThisMachine() {
        var code = run("doctor");

        assertThat(output.toString())
                .containsPattern("(?m)^fine +Java  +\\d")
                .containsPattern("(?m)^fine +native access  +allowed")
                .containsPattern("(?m)^\\w+ +close\\(\\)  +uses ")
                .containsPattern("(?m)^\\w+ +RDMA devices  |(?m)^\\w+ +rdma_cm  ")
                .containsPattern("(?m)^\\w+ +locked memory  ")
                .containsPattern("(?m)^\\d+ broken, \\d+ doubtful\n\\z");
        assertThat(code).isEqualTo(output.toString().contains("\n0 broken") ? 0 : 1);
    }

    @Test
    void shouldPrintTheDiagnosisAsJson() {
        run("doctor", "--json");

        assertThat(output.toString())
                .startsWith("[{\"subject\":\"Java\",\"verdict\":\"fine\",\"seen\":")
                .hasLineCount(1)
                .satisfies(StrictJson::parse);
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "doctor", "lend", "net", "nvme", "perf", "ping"})
    void shouldPrintTheHelpOfEachCommand(String command) {
        assertThat(run(command, "--help")).isZero();

        assertThat(output.toString()).startsWith("Usage: jrdma " + command).contains("--json");
        assertThat(output.toString().lines()).allMatch(line -> line.length() <= 80);
    }

    /** Otherwise, picocli prints a warning before the help. */
    @Test
    void shouldHaveHelpThatPicocliCanFormat() {
        commands(Jrdma.commandLine())
                .map(CommandLine::getCommandSpec)
                .flatMap(JrdmaTest::descriptions)
                .forEach(text ->
                        assertThatCode(() -> text.formatted()).as(text).doesNotThrowAnyException());
    }

    private static Stream<CommandLine> commands(CommandLine command) {
        return Stream.concat(
                Stream.of(command),
                command.getSubcommands().values().stream().flatMap(JrdmaTest::commands));
    }

    private static Stream<String> descriptions(CommandSpec command) {
        var usage = command.usageMessage();
        return Stream.concat(
                        Stream.of(usage.description(), usage.footer()),
                        command.args().stream().map(ArgSpec::description))
                .flatMap(Stream::of);
    }

    @Test
    void shouldNotSuggestACommandWithAnotherFirstLetter() {
        assertThat(run("volume", "mkdir")).isEqualTo(2);

        assertThat(errors).hasToString("Unknown argument: 'mkdir'. See jrdma volume --help.\n");
    }

    @Test
    void shouldRejectAnEmptyArgument() {
        assertThat(run("volume", "")).isEqualTo(2);

        assertThat(errors).hasToString("Unknown argument: ''. See jrdma volume --help.\n");
    }

    @Test
    void shouldRejectAnUnknownCommandInOneLine() {
        assertThat(run("devises")).isEqualTo(2);

        assertThat(errors.toString())
                .contains("devises", "Did you mean", "devices", "See jrdma --help.")
                .hasLineCount(1);
    }

    @Test
    void shouldRejectAnUnknownOptionInOneLine() {
        assertThat(run("perf", "--speed")).isEqualTo(2);

        assertThat(errors.toString()).endsWith(" See jrdma perf --help.\n").hasLineCount(1);
    }

    @Test
    void shouldRejectAMissingCommandInOneLine() {
        assertThat(run()).isEqualTo(2);

        assertThat(errors.toString()).endsWith(" See jrdma --help.\n").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({
        "help perf, jrdma perf ",
        "help volume cp, jrdma volume cp ",
        "volume help cp, jrdma volume cp ",
        "help volume mount, jrdma volume mount ",
        "nvme help serve, jrdma nvme serve "
    })
    void shouldPrintTheHelpOfTheCommandThatHelpNames(String line, String shown) {
        assertThat(run(line.split(" "))).isZero();

        assertThat(output.toString()).startsWith("Usage: " + shown);
    }

    @Test
    void shouldRejectHelpOfAnUnknownCommand() {
        assertThat(run("help", "volume", "cpy")).isEqualTo(2);

        assertThat(errors.toString())
                .isEqualTo("Unknown argument: 'cpy'. Did you mean cp? See jrdma volume --help.\n");
    }

    @Test
    void shouldListTheCommandsForHelp() {
        assertThat(run("help")).isZero();

        assertThat(output.toString()).startsWith("Usage: jrdma ").contains("devices", "example");
    }

    @Test
    void shouldListTheExamples() {
        assertThat(run("example")).isZero();

        assertThat(output.toString()).containsPattern("(?m)^atomics  +\\w").contains("rc-pingpong");
    }

    @Test
    void shouldRejectAnUnknownExample() {
        assertThat(run("example", "rc")).isEqualTo(2);

        assertThat(errors.toString()).startsWith("There is no example named rc.").hasLineCount(1);
    }

    @Test
    void shouldReportThatExamplesRunInTheRepositoryOnly() {
        assertThat(run("example", "atomics")).isEqualTo(1);

        assertThat(errors.toString()).endsWith("./jrdma example atomics\n").hasLineCount(1);
    }

    @ParameterizedTest
    @CsvSource({"'', --help", "--servers=a /mnt, --servers=a /mnt"})
    void shouldReportThatTheRepositoryMountsVolumes(String arguments, String repeated) {
        assertThat(run(("volume mount " + arguments).strip().split(" "))).isEqualTo(1);

        assertThat(errors.toString())
                .endsWith(" run: ./jrdma volume mount %s\n".formatted(repeated))
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"devices", "doctor", "net", "perf", "ping"})
    void shouldRejectAnUnknownFabric(String command) {
        System.setProperty("jrdma.fabric", "hardware");
        try {
            assertThat(run(command)).isEqualTo(2);
        } finally {
            System.clearProperty("jrdma.fabric");
        }

        assertThat(output.toString()).isEmpty();
        assertThat(errors.toString())
                .startsWith("The system property jrdma.fabric is \"hardware\".")
                .hasLineCount(1);
    }
}
