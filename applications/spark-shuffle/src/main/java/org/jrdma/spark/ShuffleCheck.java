package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.time.Duration;
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
 * records. The exit status is 1 unless executors have read blocks of each other, all by RDMA.
 */
public final class ShuffleCheck {

    private static final int PARTITIONS = 8;
    private static final int VALUE_BYTES = 92;

    private static final Duration EXECUTOR_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration POLL = Duration.ofMillis(50);

    private ShuffleCheck() {}

    /**
     * Runs the application.
     *
     * @throws InterruptedException if the thread is interrupted
     */
    public static void main(String... arguments) throws InterruptedException {
        var records = Integer.parseInt(arguments[0]);
        RdmaReadCountComparison reads;
        try (var context = new JavaSparkContext(new SparkConf().setAppName("RDMA shuffle check"))) {
            reads = run(context, records);
        }
        System.out.println(reads);
        var objection = reads.objection();
        if (objection.isPresent()) {
            System.err.println("The check has failed. " + objection.get());
            System.exit(1);
        }
    }

    /**
     * Sorts records, and returns the counts of the blocks that were read. Must be the first job of
     * the application.
     */
    static RdmaReadCountComparison run(JavaSparkContext context, int records)
            throws InterruptedException {
        awaitExecutors(context);
        var counter = new RemoteReadCounter();
        context.sc().addSparkListener(counter);
        System.out.printf("%d records are sorted.%n", sort(context, records));
        if (!counter.awaitJobEnd(REPORT_TIMEOUT)) {
            throw new IllegalStateException("Spark has not reported the end of the job");
        }
        return awaitReports(counter);
    }

    /** Waits for two executors, because a single one reads no blocks of another. */
    private static void awaitExecutors(JavaSparkContext context) throws InterruptedException {
        var start = System.nanoTime();
        while (context.sc().getExecutorMemoryStatus().size() < 3) { // the driver and two executors
            if (System.nanoTime() - start > EXECUTOR_TIMEOUT.toNanos()) {
                throw new IllegalStateException(
                        "Fewer than two executors have registered within %d s"
                                .formatted(EXECUTOR_TIMEOUT.toSeconds()));
            }
            Thread.sleep(POLL);
        }
    }

    private static long sort(JavaSparkContext context, int records) {
        var each = records / PARTITIONS;
        return context.parallelize(IntStream.range(0, PARTITIONS).boxed().toList(), PARTITIONS)
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
                .repartitionAndSortWithinPartitions(new HashPartitioner(PARTITIONS))
                .mapPartitions(sorted -> {
                    var read = 0L;
                    var last = Long.MIN_VALUE;
                    while (sorted.hasNext()) {
                        var key = sorted.next()._1();
                        if (key < last) {
                            throw new IllegalStateException("The records are not sorted");
                        }
                        last = key;
                        read++;
                    }
                    return List.of(read).iterator();
                })
                .reduce(Long::sum);
    }

    /** Waits for the reports of the executors, which arrive after the tasks have ended. */
    private static RdmaReadCountComparison awaitReports(RemoteReadCounter counter)
            throws InterruptedException {
        var start = System.nanoTime();
        while (true) {
            var reads =
                    new RdmaReadCountComparison(
                            counter.blocks(),
                            counter.bytes(),
                            total(Metric.BLOCKS_READ),
                            total(Metric.BYTES_READ));
            if (reads.rdmaBlocks() >= reads.blocks()
                    || System.nanoTime() - start > REPORT_TIMEOUT.toNanos()) {
                return reads;
            }
            Thread.sleep(POLL);
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
