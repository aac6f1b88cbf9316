package org.jrdma.spark;

import java.io.Serializable;
import java.util.Arrays;
import scala.Tuple2;

/**
 * A digest of records that does not depend on their order.
 *
 * @param count the number of records
 * @param hashes the sum of the hashes of the records
 */
record RecordDigest(long count, long hashes) implements Serializable {

    static final RecordDigest EMPTY = new RecordDigest(0, 0);

    private static final long MULTIPLIER = 0x9e37_79b9_7f4a_7c15L;

    static RecordDigest of(Tuple2<Long, byte[]> record) {
        // The hash is not linear, because values that two records exchange must change the sum.
        var hash = (record._1() ^ (Arrays.hashCode(record._2()) * MULTIPLIER)) * MULTIPLIER;
        return new RecordDigest(1, (hash ^ (hash >>> Integer.SIZE)) * MULTIPLIER);
    }

    RecordDigest plus(RecordDigest other) {
        return new RecordDigest(count + other.count, hashes + other.hashes);
    }

    @Override
    public String toString() {
        return "%d records (hash %016x)".formatted(count, hashes);
    }
}
