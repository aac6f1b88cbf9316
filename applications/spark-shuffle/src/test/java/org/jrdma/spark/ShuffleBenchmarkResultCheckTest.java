package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class ShuffleBenchmarkResultCheckTest {

    private static ShuffleBenchmark.Sums round(String result, long blocks, long rdmaBlocks) {
        return new ShuffleBenchmark.Sums(result, CpuTime.NONE, 1, 1_000, blocks, rdmaBlocks);
    }

    private static void shouldReject(
            ShuffleBenchmark.Sums stock, ShuffleBenchmark.Sums rdma, String cause) {
        assertThatThrownBy(() -> ShuffleBenchmark.requireComparable("bulk", stock, rdma))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining(cause);
    }

    @Test
    void shouldCompareRoundsThatReadTheSameRecordsOnTheirPaths() {
        assertThatCode(() ->
                        ShuffleBenchmark.requireComparable(
                                "bulk", round("7", 8, 0), round("7", 9, 9)))
                .doesNotThrowAnyException();
    }

    @Test
    void shouldRejectRoundsWithDifferentResults() {
        shouldReject(round("7", 8, 0), round("6", 8, 8), "result");
    }

    @Test
    void shouldRejectBlocksThatWereNotReadByRdma() {
        shouldReject(round("7", 8, 0), round("7", 8, 7), "read by RDMA");
    }

    @Test
    void shouldRejectStockSparkThatUsesRdma() {
        shouldReject(round("7", 8, 8), round("7", 8, 8), "stock Spark");
    }

    @Test
    void shouldRejectRoundsWithoutRemoteBlocks() {
        shouldReject(round("7", 0, 0), round("7", 8, 8), "remote blocks");
        shouldReject(round("7", 8, 0), round("7", 0, 0), "remote blocks");
    }

    @Test
    void shouldLimitTheRatioOfTheCpuTimes() {
        assertThat(ShuffleBenchmark.objection("bulk", 1.0)).isEmpty();
        assertThat(ShuffleBenchmark.objection("bulk", 1.01)).isPresent();
        assertThat(ShuffleBenchmark.objection("small", 1.1)).isEmpty();
        assertThat(ShuffleBenchmark.objection("small", 1.11)).isPresent();
        assertThat(ShuffleBenchmark.objection("small", Double.NaN)).isPresent();
        assertThat(ShuffleBenchmark.objection("sort", 2.0)).isEmpty();
    }
}
