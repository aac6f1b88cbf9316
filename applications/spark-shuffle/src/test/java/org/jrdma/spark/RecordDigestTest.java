package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

class RecordDigestTest {

    private static final byte[] FIRST = {1, 2};
    private static final byte[] SECOND = {3, 4};

    private static final RecordDigest EXPECTED = digest(record(5, FIRST), record(6, SECOND));

    private static RecordDigest record(long key, byte... value) {
        return RecordDigest.of(new Tuple2<>(key, value));
    }

    private static RecordDigest digest(RecordDigest... records) {
        return Arrays.stream(records).reduce(RecordDigest.EMPTY, RecordDigest::plus);
    }

    @Test
    void shouldNotDependOnTheOrderOfTheRecords() {
        assertThat(digest(record(6, SECOND), record(5, FIRST))).isEqualTo(EXPECTED);
        assertThat(EXPECTED.count()).isEqualTo(2);
    }

    @Test
    void shouldDependOnEachByte() {
        assertThat(digest(record(5, (byte) 1, (byte) 3), record(6, SECOND))).isNotEqualTo(EXPECTED);
        assertThat(digest(record(4, FIRST), record(6, SECOND))).isNotEqualTo(EXPECTED);
    }

    @Test
    void shouldDependOnTheKeyOfEachValue() {
        assertThat(digest(record(6, FIRST), record(5, SECOND))).isNotEqualTo(EXPECTED);
    }

    @Test
    void shouldDependOnLostAndRepeatedRecords() {
        assertThat(digest(record(5, FIRST))).isNotEqualTo(EXPECTED);
        assertThat(digest(record(5, FIRST), record(5, FIRST))).isNotEqualTo(EXPECTED);
        assertThat(digest(record(5, FIRST), record(6, SECOND), record(6, SECOND)))
                .isNotEqualTo(EXPECTED);
    }
}
