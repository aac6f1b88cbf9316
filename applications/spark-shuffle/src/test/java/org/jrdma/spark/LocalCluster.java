package org.jrdma.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.apache.spark.FetchFailed;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskKilled;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.SparkSession;

/**
 * A driver in this JVM with two executors in JVMs of their own. The executors are on one machine,
 * but do not read each other's files.
 */
final class LocalCluster implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(30);
    private static final Duration READ_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration RELEASE_TIMEOUT = Duration.ofMinutes(1);
    private static final String IDLE_TIMEOUT = "5s";
    private static final int EXECUTORS = 2;

    private final SparkSession session;
    private final RemoteReadCounter remoteReads = new RemoteReadCounter();
    private final LongAdder remoteBytesToFiles = new LongAdder();
    private final LongAdder fetchWaitMillis = new LongAdder();
    private final LongAdder mapTasks = new LongAdder();
    private final LongAdder interruptedReads = new LongAdder();

    /** The RDMA descriptors of an executor that has not read and not served a block. */
    private long idleDescriptors;

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
                        .config("spark.shuffle.readHostLocalDisk", "false")
                        .config(ShuffleSettings.IDLE_TIMEOUT, IDLE_TIMEOUT);
        settings.forEach(builder::config);
        var cluster = new LocalCluster(builder.getOrCreate());
        try {
            cluster.listen();
            cluster.awaitExecutors(EXECUTORS);
            cluster.awaitTasks();
            cluster.idleDescriptors =
                    executors().stream()
                            .mapToLong(LocalCluster::rdmaDescriptors)
                            .max()
                            .orElseThrow();
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
        session.sparkContext().addSparkListener(remoteReads);
        session.sparkContext()
                .addSparkListener(
                        new SparkListener() {
                            @Override
                            public void onTaskEnd(SparkListenerTaskEnd end) {
                                if (hasInterruptedRead(end)) {
                                    interruptedReads.increment();
                                }
                                if (end.taskType().equals("ShuffleMapTask")
                                        && end.taskInfo().successful()) {
                                    mapTasks.increment();
                                }
                                if (end.taskMetrics() != null) {
                                    var read = end.taskMetrics().shuffleReadMetrics();
                                    remoteBytesToFiles.add(read.remoteBytesReadToDisk());
                                    fetchWaitMillis.add(read.fetchWaitTime());
                                }
                            }
                        });
    }

    private static boolean hasInterruptedRead(SparkListenerTaskEnd end) {
        return switch (end.reason()) {
            // Without an address, the task could not even try to fetch.
            case FetchFailed failed -> failed.bmAddress() != null;
            // Another attempt of the stage ended while this task was trying to fetch again.
            case TaskKilled _ -> end.taskType().equals("ResultTask");
            default -> false;
        };
    }

    void awaitExecutors(int count) throws InterruptedException {
        await(
                START_TIMEOUT,
                () -> session.sparkContext().statusTracker().getExecutorInfos().length > count);
    }

    /** Waits until each executor has run a task, because the plug-in starts before that. */
    private void awaitTasks() throws InterruptedException {
        var tasks = ShuffleJobs.context(session).parallelize(List.of(1, 2, 3, 4), 4);
        await(
                START_TIMEOUT,
                () ->
                        Set.copyOf(tasks.map(_ -> SparkEnv.get().executorId()).collect()).size()
                                == EXECUTORS);
    }

    /** Returns the ID of an executor. */
    String anyExecutor() {
        return ShuffleJobs.context(session)
                .parallelize(List.of(1), 1)
                .map(_ -> SparkEnv.get().executorId())
                .first();
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
        return remoteReads.blocks();
    }

    /** The bytes of these blocks. */
    long remoteBytes() {
        return remoteReads.bytes();
    }

    /** The bytes of remote blocks that tasks have read into files, as counted by Spark. */
    long remoteBytesToFiles() {
        return remoteBytesToFiles.sum();
    }

    /** The time for which tasks have waited for remote blocks, as measured by Spark. */
    long fetchWaitMillis() {
        return fetchWaitMillis.sum();
    }

    /** The map tasks that have succeeded, including those that Spark has repeated. */
    long mapTasks() {
        return mapTasks.sum();
    }

    /** The tasks that have ended without a result while they read from another executor. */
    long interruptedReads() {
        return interruptedReads.sum();
    }

    /** Waits for a further interrupted read, which can end later than the job. */
    void awaitInterruptedRead(long before) throws InterruptedException {
        await(READ_TIMEOUT, () -> interruptedReads() > before);
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

    /**
     * Makes Spark remove all shuffles that no object uses, and waits until the executors have
     * released all map outputs, buffers and channels, and have no more file descriptors for RDMA
     * than before the first shuffle. Channels are closed after the idle timeout. Map outputs that
     * an unreachable peer was reading are released when the keep-alive of its channel fails.
     */
    void awaitRelease() throws InterruptedException {
        try {
            await(
                    RELEASE_TIMEOUT,
                    () -> {
                        System.gc();
                        // Executors report their metrics after each task.
                        ShuffleJobs.context(session).parallelize(List.of(1, 2, 3, 4), 4).count();
                        return held().isEmpty();
                    });
        } catch (AssertionError e) {
            throw new AssertionError("Not released: " + held(), e);
        }
    }

    /**
     * The resources that executors hold for shuffles, as reported by them and by the operating
     * system.
     */
    private Map<String, Long> held() {
        var held = new TreeMap<String, Long>();
        for (var metric :
                List.of(
                        Metric.REGISTERED_FILES,
                        Metric.REGISTERED_BYTES,
                        Metric.BUFFER_BYTES,
                        Metric.BUFFER_BYTES_USED)) {
            held.put(metric.key(), metric(metric));
        }
        for (var executor : executors()) {
            held.put("mapped files of process " + executor.pid(), mappedOutputs(executor));
            held.put(
                    "further file descriptors of process " + executor.pid(),
                    Math.max(0, rdmaDescriptors(executor) - idleDescriptors));
        }
        held.values().removeIf(value -> value == 0);
        return held;
    }

    /** The number of memory mappings of map outputs, including deleted files. */
    private static long mappedOutputs(ProcessHandle executor) {
        try (var mappings = Files.lines(Path.of("/proc/%d/maps".formatted(executor.pid())))) {
            return mappings.filter(mapping -> mapping.contains("/shuffle_")).count();
        } catch (IOException | UncheckedIOException e) {
            return 0; // The process has ended.
        }
    }

    /**
     * The number of file descriptors that an executor uses for RDMA. The software fabric has an
     * eventfd for each channel and some more; Netty has one for each epoll instance.
     */
    private static long rdmaDescriptors(ProcessHandle executor) {
        var folder = Path.of("/proc/%d/fd".formatted(executor.pid()));
        try (var descriptors = Files.list(folder)) {
            var targets = descriptors.map(LocalCluster::target).toList();
            return (long) Collections.frequency(targets, "anon_inode:[eventfd]")
                    - Collections.frequency(targets, "anon_inode:[eventpoll]");
        } catch (IOException | UncheckedIOException e) {
            return 0; // The process has ended.
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return ""; // The descriptor was closed.
        }
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

    /** The sum of a metric of all executors, as they have reported it to the driver. */
    long metric(Metric metric) {
        return ShuffleCheck.total(metric);
    }

    /** Stops Spark, and waits for the executors, which may be writing to the folder of a test. */
    @Override
    public void close() {
        var running = executors();
        session.stop();
        for (var executor : running) {
            executor.onExit().orTimeout(RELEASE_TIMEOUT.toSeconds(), TimeUnit.SECONDS).join();
        }
    }
}
