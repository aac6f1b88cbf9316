package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RdmaReadCountComparisonTest {

    @Test
    void shouldAcceptThatAllBlocksWereReadByRdma() {
        assertThat(new RdmaReadCountComparison(3, 300, 3, 300).objection()).isEmpty();
    }

    @Test
    void shouldObjectToBlocksThatWereReadOverTcp() {
        assertThat(new RdmaReadCountComparison(3, 300, 2, 200).objection())
                .hasValueSatisfying(
                        objection -> assertThat(objection).contains("3 remote blocks", "2 blocks"));
    }

    @Test
    void shouldObjectToBytesThatWereReadOverTcp() {
        assertThat(new RdmaReadCountComparison(3, 300, 3, 200).objection()).isPresent();
    }

    @Test
    void shouldObjectIfNoExecutorHasReadBlocksOfAnotherOne() {
        assertThat(new RdmaReadCountComparison(0, 0, 0, 0).objection()).isPresent();
    }

    @Test
    void shouldCountOverTcpTheBlocksOfExecutorsThatReportNothing() {
        assertThat(new RdmaReadCountComparison(3, 300, 0, 0))
                .hasToString("Remote blocks: 0 by RDMA (0 bytes), 3 over TCP.");
    }
}
