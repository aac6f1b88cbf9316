package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PartitionRangeParsingTest {

    @Test
    void shouldParseTheNameOfABlock() {
        assertThat(PartitionRange.parse("shuffle_3_8589934592_7"))
                .contains(new PartitionRange(3, 8589934592L, 7, 8));
    }

    @Test
    void shouldParseTheNameOfSeveralPartitions() {
        assertThat(PartitionRange.parse("shuffle_3_4_7_9"))
                .contains(new PartitionRange(3, 4, 7, 9));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "shuffle_1_2_3.data",
                "shuffle_1_2",
                "shuffleChunk_1_2_3_4",
                "shuffle_1_2_3_4_5",
                "shuffle_x_2_3",
                "rdd_1_2",
                ""
            })
    void shouldRejectOtherNames(String name) {
        assertThat(PartitionRange.parse(name)).isEmpty();
    }
}
