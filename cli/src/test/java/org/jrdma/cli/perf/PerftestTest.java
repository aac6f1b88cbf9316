package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the comparison with perftest, with scripts in place of its programs. The tests in the guest
 * run perftest itself.
 */
class PerftestTest {

    private static final Result RESULT =
            new Result(
                    "write",
                    Optional.of(Paths.Fabric.SYSTEM),
                    Optional.of("rxe0"),
                    4096,
                    new LatencyStatistics(250, 1, 3, 3, 3, 3, 3, 3),
                    new MeasuredBandwidth(2097.152, 5000),
                    new Stability(true, true),
                    new MachineState(92, 4_000),
                    Optional.empty());

    @TempDir private Path folder;

    private PerftestBaseline perftest() {
        return new PerftestBaseline(
                "rxe0", 1, new ClientServerProgramRunner(List.of(Path.of("/nowhere"), folder)));
    }

    private void program(String name, String script) throws IOException {
        var program = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script);
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void shouldReportThePackageOfAMissingProgram() throws Exception {
        assertThat(perftest().missing("write"))
                .hasValue("ib_write_lat is not installed; it is in the package perftest");

        program("ib_write_lat", "");
        assertThat(perftest().missing("write"))
                .hasValue("ib_write_bw is not installed; it is in the package perftest");

        program("ib_write_bw", "");
        assertThat(perftest().missing("write")).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"tcp", "swap", "dma"})
    void shouldReportPathsWithoutAProgram(String path) {
        assertThat(perftest().missing(path)).hasValue("there is no C program for this path");
    }

    /** The client has a host argument. Its first run cannot connect. */
    @Test
    void shouldRunTheProgramsWithTheSameParameters() throws Exception {
        program(
                "ib_write_lat",
                """
                for word; do last=$word; done
                if [ "$last" != 127.0.0.1 ]; then exec sleep 60; fi
                if [ ! -e "$0.called" ]; then echo "$@" > "$0.called"; echo "Couldn't connect to 127.0.0.1"; exit 1; fi
                echo ' #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]'
                echo ' 4096    250          1.50           9.99         2.00     \t       2.10   0.1  3.0  4.0'
                """);
        program(
                "ib_write_bw",
                """
                for word; do last=$word; done
                if [ "$last" != 127.0.0.1 ]; then exec sleep 60; fi
                echo "$@" > "$0.called"
                echo ' 4096       1000             2100.00            1000.00            0.256000'
                """);

        var figures = perftest().compare(RESULT, Duration.ofMillis(200));

        assertThat(figures.missing()).isEmpty();
        assertThat(figures.row())
                .matches(" +in C +2\\.00 +1048\\.6   Java / C: latency 1\\.50, MB/s 2\\.00");
        assertThat(folder.resolve("ib_write_lat.called"))
                .content()
                .matches(
                        "--ib-dev=rxe0 --gid-index=1 --size=4096 --iters=250 --port=\\d+ --CPU-freq --inline_size=0 127.0.0.1\n");
        assertThat(folder.resolve("ib_write_bw.called"))
                .content()
                .matches(
                        "--ib-dev=rxe0 .* --iters=1000 .* --inline_size=0 --tx-depth=64 --cq-mod=1 127.0.0.1\n");
    }

    /**
     * On a busy machine, perftest may be unable to determine the clock frequency. It then prints
     * inf or nan instead of numbers.
     */
    @Test
    void shouldRetryIfAProgramPrintsNoNumber() throws Exception {
        program(
                "ib_write_lat",
                """
                for word; do last=$word; done
                if [ "$last" != 127.0.0.1 ]; then exec sleep 60; fi
                if [ ! -e "$0.called" ]; then touch "$0.called"; echo ' 4096 250 inf inf inf \t inf -nan inf inf'; exit; fi
                echo ' 4096 250 1.50 9.99 2.00 2.10 0.1 3.0 4.0'
                """);
        program("ib_write_bw", "echo ' 4096 1000 inf inf inf'");

        var figures = perftest().compare(RESULT, Duration.ofMillis(200));

        assertThat(figures.missing())
                .hasValue("perftest cannot determine the clock frequency of the processor");
        assertThat(folder.resolve("ib_write_lat.called")).exists();
    }

    @Test
    void shouldReportTheOutputOfAProgramWithoutAResult() throws Exception {
        program("ib_write_lat", "echo Unable to find the Infiniband/RoCE device");

        var figures = perftest().compare(RESULT, Duration.ofMillis(200));

        assertThat(figures.c()).isEmpty();
        assertThat(figures.row())
                .contains("in C not compared: ")
                .endsWith("printed no result: Unable to find the Infiniband/RoCE device");
    }
}
