package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/**
 * A Spark application that checks a cluster: it sorts random records, and reports how many blocks
 * the executors have read by RDMA and how many over TCP. The only argument is the number of
 * records.
 */
public final class ShuffleCheck {

    private static final int PARTITIONS = 8;
    private static final int VALUE_BYTES = 92;

    private ShuffleCheck() {}

    /**
     * Runs the application.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String... arguments) throws InterruptedException {
        var each = Integer.parseInt(arguments[0]) / PARTITIONS;
        try (var context = new JavaSparkContext(new SparkConf().setAppName("RDMA shuffle check"))) {
            var sorted =
                    context.parallelize(IntStream.range(0, PARTITIONS).boxed().toList(), PARTITIONS)
                            .flatMapToPair(seed -> {
                                var random = new SplittableRandom(seed);
                                return IntStream.range(0, each)
                                        .mapToObj(_ -> {
                                            var value = new byte[VALUE_BYTES];
                                            random.nextBytes(value);
                                            return new Tuple2<>(random.nextLong(), value);
                                        })
                                        .iterator();
                            })
                            .repartitionAndSortWithinPartitions(new HashPartitioner(PARTITIONS));
            var count =
                    sorted.mapPartitions(
                                    records -> {
                                        var read = 0L;
                                        var last = Long.MIN_VALUE;
                                        while (records.hasNext()) {
                                            var key = records.next()._1();
                                            if (key < last) {
                                                throw new IllegalStateException(
                                                        "The records are not sorted");
                                            }
                                            last = key;
                                            read++;
                                        }
                                        return List.of(read).iterator();
                                    })
                            .reduce(Long::sum);
            System.out.printf("%d records are sorted.%n", count);
            System.out.printf(
                    "Remote blocks: %d by RDMA (%d bytes), %d over TCP.%n",
                    total(Metric.BLOCKS_READ),
                    total(Metric.BYTES_READ),
                    total(Metric.BLOCKS_BY_TCP));
        }
    }

    private static long total(Metric metric) {
        var sources =
                SparkEnv.get()
                        .metricsSystem()
                        .getSourcesByName("plugin." + RdmaShufflePlugin.class.getName());
        return sources.isEmpty()
                ? 0L
                : (Long)
                        ((Gauge<?>) sources.head().metricRegistry().getGauges().get(metric.key()))
                                .getValue();
    }
}
