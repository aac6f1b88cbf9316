package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.cli.InvalidCommandLineAssertions;
import org.jrdma.cli.JrdmaProcess;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VolumePerfCommandTest {

    private static final int ACCESSES = 4;
    private static final int RAW_TRANSPORTS = 4;

    @TempDir private Path folder;

    /** Runs the command in a process of its own, because it selects the fabrics of its process. */
    private static String run(String... options) throws Exception {
        var words = new ArrayList<>(List.of("perf", "volume"));
        words.addAll(List.of(options));
        try (var command = JrdmaProcess.start(List.of(), words)) {
            assertThat(command.await()).as(command.output()).isZero();
            return command.output();
        }
    }

    private static Stream<String> rows(String output) {
        return output.lines().filter(line -> line.matches(" +(4K|64K) +[0-9.]+ .*[1-9].*"));
    }

    @Test
    void shouldMeasureOnePathAndPrintJson() throws Exception {
        var output = run("--json", "-s", "4K", "-t", "20", "tcp");

        assertThat(output)
                .startsWith(
                        "[{\"path\":\"tcp\",\"raw\":null,\"operation\":\"read\",\"pattern\":\"sequential\",\"bytes\":4096,")
                .contains("\"processorTime\":{\"client\":", "\"connection\":\"sockets (tcp) to ")
                .hasLineCount(1);
    }

    @Test
    @Tag("slow")
    void shouldMeasureAllPathsBesideTheirTransportsAndDrawAPlot() throws Exception {
        var plot = folder.resolve("plot.svg");

        var output = run("-s", "64K", "-t", "20", "--plot", plot.toString());

        assertThat(output)
                .contains(
                        "\ndirect: direct\n",
                        "\nverbs: verbs (soft0) between ",
                        "\nsisci: sisci ",
                        "\nsisci-sockets: sockets (sisci) to ",
                        "\ntcp: sockets (tcp) to ",
                        "\ntcp, random write: latency in us, processor time in ns per byte; ~: unstable\n",
                        "\ndirect, raw driver, random read: latency in us; ~: unstable\n",
                        "\nverbs, raw read: latency in us; ~: unstable\n",
                        "\nsisci, raw pio: latency in us; ~: unstable\n")
                .containsPattern(
                        "\nverbs-datagrams: verbs \\(soft0, [1-9]\\d* reads by datagrams\\)")
                .doesNotContain("failed");
        assertThat(rows(output))
                .hasSize(
                        VolumeDataPathKind.values().length * ACCESSES
                                + ACCESSES // of the driver
                                + RAW_TRANSPORTS);
        assertThat(Files.readString(plot))
                .contains(
                        VolumeResult.BY_SIZE.title(),
                        "block size (bytes)",
                        "random read",
                        "sequential write, all processes",
                        "processor time (ns per byte)",
                        "<title>sisci-sockets</title>",
                        "<title>raw driver of direct</title>",
                        "<title>raw write of verbs</title>");
    }

    @ParameterizedTest
    @CsvSource({
        "perf volume -s 6K, 'The block size 6K is not a multiple of 4K up to 4M. See jrdma perf volume --help.'",
        "perf volume -s 8M, 'The block size 8M is not a multiple of 4K up to 4M. See jrdma perf volume --help.'",
        "perf volume udp, Unknown argument: 'udp'. See jrdma perf volume --help."
    })
    void shouldRejectAnInvalidCommandLine(String words, String message) {
        assertThat(InvalidCommandLineAssertions.errors(words)).contains(message).hasLineCount(1);
    }
}
