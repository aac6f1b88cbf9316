package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.SparkEnv;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/**
 * A driver in this JVM with two executors in JVMs of their own. The executors are on one machine,
 * but do not read each other's files.
 */
final class LocalCluster implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(10);
    private static final int EXECUTORS = 2;

    private final SparkSession session;
    private final LongAdder remoteBlocks = new LongAdder();
    private final LongAdder remoteBytes = new LongAdder();
    private final LongAdder remoteBytesToFiles = new LongAdder();

    private LocalCluster(SparkSession session) {
        this.session = session;
    }

    /** Starts a cluster that uses the plug-in on the software fabric. */
    static LocalCluster start(Map<String, String> settings) throws Exception {
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        var builder =
                builder("local-cluster[%d,1,512]".formatted(EXECUTORS))
                        .config("spark.plugins", RdmaShufflePlugin.class.getName())
                        .config("spark.executor.memory", "512m")
                        // Spark looks for jars in SPARK_HOME, where there are none.
                        .config(
                                "spark.executor.extraClassPath",
                                System.getProperty("java.class.path"))
                        .config("spark.executor.extraJavaOptions", "-Djrdma.fabric=software")
                        .config("spark.shuffle.readHostLocalDisk", "false");
        settings.forEach(builder::config);
        var cluster = new LocalCluster(builder.getOrCreate());
        try {
            cluster.listen();
            cluster.awaitExecutors(EXECUTORS);
            return cluster;
        } catch (Throwable e) {
            cluster.close();
            throw e;
        }
    }

    /** Starts Spark without the plug-in in this JVM. */
    static SparkSession stock() {
        return builder("local[2]").getOrCreate();
    }

    private static SparkSession.Builder builder(String master) {
        return SparkSession.builder()
                .appName("shuffle")
                .master(master)
                .config("spark.driver.host", "localhost")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.ui.enabled", "false")
                .config("spark.sql.shuffle.partitions", "8")
                .config("spark.sql.autoBroadcastJoinThreshold", "-1");
    }

    private void listen() {
        session.sparkContext()
                .addSparkListener(
                        new SparkListener() {
                            @Override
                            public void onTaskEnd(SparkListenerTaskEnd end) {
                                if (end.taskMetrics() != null) {
                                    var read = end.taskMetrics().shuffleReadMetrics();
                                    remoteBlocks.add(read.remoteBlocksFetched());
                                    remoteBytes.add(read.remoteBytesRead());
                                    remoteBytesToFiles.add(read.remoteBytesReadToDisk());
                                }
                            }
                        });
    }

    void awaitExecutors(int count) throws InterruptedException {
        await(
                START_TIMEOUT,
                () -> session.sparkContext().statusTracker().getExecutorInfos().length > count);
    }

    /** A condition that this class waits for. */
    interface Condition {
        boolean isTrue();
    }

    static void await(Duration timeout, Condition condition) throws InterruptedException {
        var start = System.nanoTime();
        while (!condition.isTrue()) {
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new AssertionError("The condition was not met within " + timeout);
            }
            Thread.sleep(50);
        }
    }

    SparkSession session() {
        return session;
    }

    /** The remote blocks that all tasks have read, as counted by Spark. */
    long remoteBlocks() {
        return remoteBlocks.sum();
    }

    /** The bytes of these blocks. */
    long remoteBytes() {
        return remoteBytes.sum();
    }

    /** The bytes of remote blocks that tasks have read into files, as counted by Spark. */
    long remoteBytesToFiles() {
        return remoteBytesToFiles.sum();
    }

    /** Waits until Spark has reported the metrics of all tasks. */
    void settle() throws Exception {
        session.sparkContext().listenerBus().waitUntilEmpty(REPORT_TIMEOUT.toMillis());
    }

    /** The processes of the executors. */
    static List<ProcessHandle> executors() {
        return ProcessHandle.current().descendants().filter(LocalCluster::isExecutor).toList();
    }

    private static boolean isExecutor(ProcessHandle process) {
        try {
            return Files.readString(Path.of("/proc/%d/cmdline".formatted(process.pid())))
                    .contains("CoarseGrainedExecutorBackend");
        } catch (IOException e) {
            return false; // The process has ended.
        }
    }

    /** Makes Spark forget all shuffles that no object uses, and the executors report metrics. */
    void forgetShuffles() throws InterruptedException {
        await(
                REPORT_TIMEOUT,
                () -> {
                    System.gc();
                    ShuffleJobs.context(session).parallelize(List.of(1, 2, 3, 4), 4).count();
                    return metric(Metric.REGISTERED_FILES) == 0;
                });
    }

    /** Waits until the executors have reported a value. */
    void awaitMetric(Metric metric, long value) throws InterruptedException {
        try {
            await(REPORT_TIMEOUT, () -> metric(metric) == value);
        } catch (AssertionError e) {
            throw new AssertionError(
                    "%s is %d instead of %d".formatted(metric, metric(metric), value), e);
        }
    }

    /** The sum of a metric of all executors, as Spark's metrics system on the driver has it. */
    long metric(Metric metric) {
        var name = "plugin." + RdmaShufflePlugin.class.getName();
        var source = SparkEnv.get().metricsSystem().getSourcesByName(name).head();
        return (Long) ((Gauge<?>) source.metricRegistry().getGauges().get(metric.key())).getValue();
    }

    @Override
    public void close() {
        session.stop();
    }
}
