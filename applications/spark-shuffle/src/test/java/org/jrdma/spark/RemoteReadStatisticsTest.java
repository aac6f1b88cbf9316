package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RemoteReadStatisticsTest {

    @Test
    void shouldAcceptThatAllBlocksWereReadByRdma() {
        assertThat(new RemoteReadStatistics(3, 300, 3, 300).objection()).isEmpty();
    }

    @Test
    void shouldObjectToBlocksThatWereReadOverTcp() {
        assertThat(new RemoteReadStatistics(3, 300, 2, 200).objection())
                .hasValueSatisfying(
                        objection -> assertThat(objection).contains("3 remote blocks", "2 blocks"));
    }

    @Test
    void shouldObjectToBytesThatWereReadOverTcp() {
        assertThat(new RemoteReadStatistics(3, 300, 3, 200).objection()).isPresent();
    }

    @Test
    void shouldObjectIfNoExecutorHasReadBlocksOfAnotherOne() {
        assertThat(new RemoteReadStatistics(0, 0, 0, 0).objection()).isPresent();
    }

    @Test
    void shouldCountOverTcpTheBlocksOfExecutorsThatReportNothing() {
        assertThat(new RemoteReadStatistics(3, 300, 0, 0))
                .hasToString("Remote blocks: 0 by RDMA (0 bytes), 3 over TCP.");
    }
}
