package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.time.Duration;
import java.util.List;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A Spark application that checks a cluster: it sorts random records, and reports how many blocks
 * the executors have read by RDMA and how many over TCP. The only argument is the number of
 * records. The exit status is 1 unless executors have read blocks of each other, all by RDMA, and
 * the shuffle has not changed the records.
 */
public final class ShuffleCheck {

    private static final String USAGE =
            "Usage: ShuffleCheck RECORDS, with the number of records to sort, 1 to 999999999";

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
        if (arguments.length != 1 || !arguments[0].matches("[1-9]\\d{0,8}")) {
            System.err.println(USAGE);
            System.exit(2);
        }
        var records =
                new RandomRecords(
                        PARTITIONS, Integer.parseInt(arguments[0]) / PARTITIONS, VALUE_BYTES);
        ShuffleCheckResult result;
        try (var context = new JavaSparkContext(new SparkConf().setAppName("RDMA shuffle check"))) {
            result = run(context, records);
        }
        System.out.println(result.reads());
        var objection = result.objection();
        if (objection.isPresent()) {
            System.err.println("The check has failed. " + objection.get());
            System.exit(1);
        }
    }

    /** Sorts records. Must be the first job of the application. */
    private static ShuffleCheckResult run(JavaSparkContext context, RandomRecords records)
            throws InterruptedException {
        awaitExecutors(context);
        var counter = new RemoteReadCounter();
        context.sc().addSparkListener(counter);
        var read = sort(context, records);
        System.out.printf("%d records are sorted.%n", read.count());
        if (!counter.awaitJobEnd(REPORT_TIMEOUT)) {
            throw new IllegalStateException("Spark has not reported the end of the job");
        }
        return new ShuffleCheckResult(records.digest(), read, awaitReports(counter));
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

    /** Sorts records within partitions, and returns the digest of the sorted records. */
    static RecordDigest sort(JavaSparkContext context, RandomRecords records) {
        return records.distribute(context)
                .repartitionAndSortWithinPartitions(new HashPartitioner(PARTITIONS))
                .mapPartitions(sorted -> {
                    var digest = RecordDigest.EMPTY;
                    var last = Long.MIN_VALUE;
                    while (sorted.hasNext()) {
                        var record = sorted.next();
                        if (record._1() < last) {
                            throw new IllegalStateException("The records are not sorted");
                        }
                        last = record._1();
                        digest = digest.plus(RecordDigest.of(record));
                    }
                    return List.of(digest).iterator();
                })
                .reduce(RecordDigest::plus);
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

    /** The sum of a metric of all executors, as Spark's metrics system on the driver has it. */
    static long total(Metric metric) {
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
