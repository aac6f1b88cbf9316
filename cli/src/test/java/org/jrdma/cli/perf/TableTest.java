package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TableTest {

    /** Values are this large if a machine stalls for minutes. */
    @Test
    void shouldSeparateColumnsOfWideValues() {
        var wide = 1_234_567_890.125;
        var latency = new LatencyStatistics(1_000, wide, wide, wide, wide, wide, wide, wide);
        var result =
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        1 << 20,
                        latency,
                        new MeasuredBandwidth(wide * 1000, wide * 1000),
                        new Stability(true, true),
                        new MachineState(92, 4_000),
                        Optional.empty());

        assertThat(Table.row(result).strip().split(" +"))
                .containsExactly(
                        "1M",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890125.0",
                        "1234567890125",
                        "92");
    }

    @ParameterizedTest
    @CsvSource({"1, - -", "99, - -", "100, 3.00 -", "999, 3.00 -", "1000, 3.00 4.00"})
    void shouldOmitThePercentilesOfTooFewSamples(int samples, String percentiles) {
        var latency = new LatencyStatistics(samples, 1, 2, 2, 2, 3, 4, 5);
        var result =
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        8,
                        latency,
                        new MeasuredBandwidth(1, 1),
                        new Stability(true, true),
                        new MachineState(92, 4_000),
                        Optional.empty());

        assertThat(Table.row(result).replaceAll(" +", " "))
                .startsWith(" 8 1.00 2.00 " + percentiles + " 1.0 1");
    }

    @ParameterizedTest
    @CsvSource({
        "true, true, 2.00, 1.0",
        "false, true, 2.00~, 1.0",
        "true, false, 2.00, 1.0~",
        "false, false, 2.00~, 1.0~"
    })
    void shouldMarkUnstableFigures(
            boolean latency, boolean bandwidth, String median, String megabytes) {
        var result =
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        8,
                        new LatencyStatistics(100, 1, 2, 2, 2, 3, 4, 5),
                        new MeasuredBandwidth(1, 1),
                        new Stability(latency, bandwidth),
                        new MachineState(92, 4_000),
                        Optional.empty());

        assertThat(Table.row(result).strip().split(" +"))
                .containsExactly("8", "1.00", median, "3.00", "-", megabytes, "1", "92");
    }
}
