package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class TableTest {

    /** As on a machine that stood still for seconds. */
    @Test
    void shouldKeepColumnsApartWhoseFiguresAreTooWide() {
        var wide = 1_234_567_890.125;
        var latency = new Latency(1, wide, wide, wide, wide, wide, wide, wide);
        var result =
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        1 << 20,
                        latency,
                        new Bandwidth(wide * 1000, wide * 1000));

        assertThat(Table.row(result).strip().split(" +"))
                .containsExactly(
                        "1M",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890.13",
                        "1234567890125.0",
                        "1234567890125");
    }
}
