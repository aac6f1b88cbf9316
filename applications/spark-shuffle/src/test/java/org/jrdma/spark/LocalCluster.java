package org.jrdma.spark;

import com.codahale.metrics.Gauge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

    private static final Duration START_TIMEOUT = Duration.ofSeconds(120);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(10);
    private static final int EXECUTORS = 2;

    private final SparkSession session;
    private final LongAdder remoteBlocks = new LongAdder();

    private LocalCluster(SparkSession session) {
        this.session = session;
    }

    /** Starts a cluster that uses the plug-in, on the software fabric. */
    static LocalCluster withPlugin(Map<String, String> settings) throws Exception {
        return start(
                "software", Map.of("spark.plugins", RdmaShufflePlugin.class.getName()), settings);
    }

    /** Starts a cluster without the plug-in. */
    static LocalCluster stock() throws Exception {
        return start("software", Map.of(), Map.of());
    }

    private static LocalCluster start(
            String fabric, Map<String, String> plugins, Map<String, String> settings)
            throws Exception {
        createSparkHome();
        var builder =
                SparkSession.builder()
                        .appName("shuffle")
                        .master("local-cluster[%d,1,512]".formatted(EXECUTORS))
                        .config("spark.executor.memory", "512m")
                        .config("spark.executor.extraClassPath", classPath())
                        .config(
                                "spark.executor.extraJavaOptions",
                                "-Djrdma.fabric=" + fabric + " -XX:+UseSerialGC")
                        .config("spark.driver.host", "localhost")
                        .config("spark.driver.bindAddress", "127.0.0.1")
                        .config("spark.ui.enabled", "false")
                        .config("spark.shuffle.readHostLocalDisk", "false")
                        .config("spark.sql.shuffle.partitions", "8")
                        .config("spark.sql.autoBroadcastJoinThreshold", "-1");
        plugins.forEach(builder::config);
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

    /** Spark looks for jars in this directory, but executors have the class path of this test. */
    private static void createSparkHome() throws IOException {
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
    }

    private static String classPath() {
        return System.getProperty("java.class.path");
    }

    private void listen() {
        session.sparkContext()
                .addSparkListener(
                        new SparkListener() {
                            @Override
                            public void onTaskEnd(SparkListenerTaskEnd end) {
                                if (end.taskMetrics() != null) {
                                    remoteBlocks.add(
                                            end.taskMetrics()
                                                    .shuffleReadMetrics()
                                                    .remoteBlocksFetched());
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
