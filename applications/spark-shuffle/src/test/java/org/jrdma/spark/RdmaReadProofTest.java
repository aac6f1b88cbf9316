package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RdmaReadProofTest {

    @Test
    void shouldAcceptThatAllBlocksWereReadByRdma() {
        assertThat(new RdmaReadProof(3, 300, 3, 300).objection()).isEmpty();
    }

    @Test
    void shouldObjectToBlocksThatWereReadOverTcp() {
        assertThat(new RdmaReadProof(3, 300, 2, 200).objection())
                .hasValueSatisfying(
                        objection -> assertThat(objection).contains("3 remote blocks", "2 blocks"));
    }

    @Test
    void shouldObjectToBytesThatWereReadOverTcp() {
        assertThat(new RdmaReadProof(3, 300, 3, 200).objection()).isPresent();
    }

    @Test
    void shouldObjectIfNoExecutorHasReadBlocksOfAnotherOne() {
        assertThat(new RdmaReadProof(0, 0, 0, 0).objection()).isPresent();
    }

    @Test
    void shouldCountOverTcpTheBlocksOfExecutorsThatReportNothing() {
        assertThat(new RdmaReadProof(3, 300, 0, 0))
                .hasToString("Remote blocks: 0 by RDMA (0 bytes), 3 over TCP.");
    }
}
