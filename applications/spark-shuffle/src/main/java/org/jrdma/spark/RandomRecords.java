package org.jrdma.spark;

import java.io.Serializable;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * Pseudo-random records with a key of eight bytes and a value that cannot be compressed. The same
 * arguments always result in the same records.
 *
 * @param each the number of records in a partition
 */
record RandomRecords(int partitions, int each, int valueBytes) implements Serializable {

    Stream<Tuple2<Long, byte[]>> partition(int number) {
        var random = new SplittableRandom(number);
        return IntStream.range(0, each)
                .mapToObj(_ -> {
                    var value = new byte[valueBytes];
                    random.nextBytes(value);
                    return new Tuple2<>(random.nextLong(), value);
                });
    }

    /** Creates the records on the executors. */
    JavaPairRDD<Long, byte[]> distribute(JavaSparkContext context) {
        return context.parallelize(IntStream.range(0, partitions).boxed().toList(), partitions)
                .flatMapToPair(number -> partition(number).iterator());
    }

    /** Computes the digest of all records in this JVM, without Spark. */
    RecordDigest digest() {
        return IntStream.range(0, partitions)
                .boxed()
                .flatMap(this::partition)
                .map(RecordDigest::of)
                .reduce(RecordDigest.EMPTY, RecordDigest::plus);
    }
}
