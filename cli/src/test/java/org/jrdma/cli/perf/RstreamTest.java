package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the comparison with rstream, with a script in its place. The tests in the guest run rstream
 * itself.
 */
class RstreamTest {

    private static final Result RESULT =
            new Result(
                    "rsocket",
                    Optional.empty(),
                    Optional.empty(),
                    4096,
                    new LatencyStatistics(250, 1, 3, 3, 3, 3, 3, 3),
                    new MeasuredBandwidth(2048, 500_000),
                    new Stability(true, true),
                    new MachineState(92, 4_000),
                    Optional.empty());

    @TempDir private Path folder;

    private RstreamProgramBaseline rstream() {
        return new RstreamProgramBaseline(
                "10.77.0.1", new ClientServerProgramRunner(List.of(folder)));
    }

    private void program(String script) throws Exception {
        var program = Files.writeString(folder.resolve("rstream"), "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void shouldReportThePackageOfTheMissingProgram() {
        assertThat(rstream().missing("rsocket"))
                .hasValue("rstream is not installed; it is in the package rdmacm-utils");
    }

    /**
     * The latency is measured with one transfer in each direction, and the bandwidth with many
     * transfers.
     */
    @Test
    void shouldRunTheProgramWithTheSameParameters() throws Exception {
        program(
                """
                case "$*" in *" -b "*) exec sleep 60;; esac
                if [ ! -e "$0.called" ]; then echo "$@" > "$0.called"; echo "rconnect: Connection refused"; exit 1; fi
                echo "$@" >> "$0.called"
                echo 'name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer'
                case "$*" in
                *" -C 1 "*) echo 'custom    4k      1       250     1m          0.00s      21.85       1.50';;
                *) echo 'custom    4k      100k    1       781m        0.40s      16.38       2.00';;
                esac
                """);

        var figures = rstream().compare(RESULT, Duration.ofMillis(200));

        assertThat(figures.missing()).isEmpty();
        assertThat(figures.row())
                .matches(" +in C +1\\.50 +2048\\.0   Java / C: latency 2\\.00, MB/s 1\\.00");
        assertThat(folder.resolve("rstream.called"))
                .content()
                .matches(
                        "(?s)(-p \\d+ -S 4096 -C 1 -I 250 -B 65536 -T blocking -s 10.77.0.1\n){2}"
                                + "-p \\d+ -S 4096 -C 100000 -I 1 -B 65536 -T blocking -s 10.77.0.1\n");
    }

    @Test
    void shouldReportTheOutputIfThereIsNoResult() throws Exception {
        program("echo rbind: No such device");

        assertThat(rstream().compare(RESULT, Duration.ofMillis(200)).row())
                .contains("in C not compared: ")
                .endsWith("printed no result: rbind: No such device");
    }
}
