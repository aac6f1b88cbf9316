package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LatencyTest {

    @Test
    void shouldComputePercentiles() {
        var nanos = LongStream.rangeClosed(1, 1_000).map(n -> (1_001 - n) * 1_000).toArray();

        assertThat(LatencyStatistics.of(nanos, 1))
                .isEqualTo(new LatencyStatistics(1_000, 1, 500.5, 500, 900, 990, 999, 1_000));
    }

    @Test
    void shouldHalveARoundTrip() {
        assertThat(LatencyStatistics.of(new long[] {3_000}, 2))
                .isEqualTo(new LatencyStatistics(1, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5, 1.5));
    }

    @Test
    void shouldComputeBandwidthInMegabytes() {
        assertThat(MeasuredBandwidth.of(1_000, 500, 1_000_000_000L))
                .isEqualTo(new MeasuredBandwidth(0.5, 500));
    }
}
