package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShuffleCheckResultTest {

    private static final RdmaReadCountComparison BY_RDMA =
            new RdmaReadCountComparison(3, 300, 3, 300);
    private static final RdmaReadCountComparison BY_TCP = new RdmaReadCountComparison(3, 300, 0, 0);

    private static final RecordDigest RECORDS = new RecordDigest(10, 77);

    @Test
    void shouldAcceptTheSameRecordsIfAllBlocksWereReadByRdma() {
        assertThat(new ShuffleCheckResult(RECORDS, RECORDS, BY_RDMA).objection()).isEmpty();
        assertThat(new ShuffleCheckResult(RECORDS, RECORDS, BY_TCP).objection())
                .isEqualTo(BY_TCP.objection());
    }

    @Test
    void shouldObjectToOtherRecordsAlthoughAllBlocksWereReadByRdma() {
        assertThat(new ShuffleCheckResult(RECORDS, new RecordDigest(10, 78), BY_RDMA).objection())
                .contains(
                        "The shuffle has changed the data: 10 records (hash 000000000000004d) were written, but 10 records (hash 000000000000004e) were read.");
        assertThat(new ShuffleCheckResult(RECORDS, new RecordDigest(9, 77), BY_RDMA).objection())
                .isPresent();
    }
}
