package org.jrdma.spark;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.storage.ShuffleBlockFetcherIterator;
import org.apache.spark.util.LongAccumulator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Tests that a job whose executors or network fail has the same result as without the failure. */
@Tag("slow")
@Tag("long")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FailureTest {

    private static final int RECORDS = 50_000;
    private static final int VALUE_BYTES = 500;
    private static final int PARTITIONS = 16;
    private static final int PAUSE_MILLIS = 20;

    private static final Duration BEFORE_FAILURE = Duration.ofSeconds(2);
    private static final Duration MIN_WAIT = Duration.ofSeconds(2);

    private static LocalCluster cluster;
    private static long millisWithoutFailure;

    private JavaPairRDD<Long, byte[]> shuffled;
    private String expected;

    @BeforeAll
    static void start() throws Exception {
        // Small requests, one after the other, so that a failure affects blocks that are not read.
        cluster =
                LocalCluster.start(
                        Map.of(
                                "spark.reducer.maxSizeInFlight", "1m",
                                "spark.reducer.maxReqsInFlight", "1",
                                "spark.shuffle.compress", "false"));
        var warmUp = newShuffle();
        ShuffleJobs.read(warmUp, 0);
        var start = System.nanoTime();
        ShuffleJobs.read(warmUp, PAUSE_MILLIS);
        millisWithoutFailure = millisSince(start);
        cluster.settle();
        cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void shuffle() throws Exception {
        cluster.awaitExecutors(2);
        var byRdma = cluster.metric(Metric.BLOCKS_READ);
        var blocks = cluster.remoteBlocks();
        shuffled = newShuffle();
        expected = ShuffleJobs.read(shuffled, 0);
        cluster.settle();
        cluster.awaitMetric(Metric.BLOCKS_READ, byRdma + cluster.remoteBlocks() - blocks);
    }

    private static JavaPairRDD<Long, byte[]> newShuffle() {
        return ShuffleJobs.records(cluster.session(), RECORDS, VALUE_BYTES)
                .partitionBy(new HashPartitioner(PARTITIONS));
    }

    /** Reads the shuffle during a failure, and prints how long this took. */
    private void readDuring(String failure, JavaPairRDD<Long, byte[]> records) {
        var start = System.nanoTime();
        assertThat(ShuffleJobs.read(records, PAUSE_MILLIS)).isEqualTo(expected);
        var millis = millisSince(start);
        System.out.printf(
                "%s: the job took %d ms, %d ms more than without a failure%n",
                failure, millis, millis - millisWithoutFailure);
    }

    /** Removes the shuffle, and checks that the executors release all that they had for it. */
    private void awaitRelease() throws InterruptedException {
        shuffled = null;
        cluster.awaitRelease();
    }

    private static long millisSince(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    @Test
    @Order(1)
    void shouldRepeatTheMapTasksOfAnExecutorThatWasKilled() throws Exception {
        var victim = LocalCluster.executors().getFirst();
        Thread.startVirtualThread(() -> {
            sleep(BEFORE_FAILURE);
            victim.destroyForcibly();
        });

        var mapTasks = cluster.mapTasks();
        var interruptedReads = cluster.interruptedReads();
        readDuring("executor killed", shuffled);
        assertThat(victim.isAlive()).isFalse();
        cluster.awaitInterruptedRead(interruptedReads);
        cluster.settle();
        assertThat(cluster.mapTasks()).isGreaterThan(mapTasks);
        awaitRelease();
    }

    @Test
    @Order(2)
    void shouldReadByRdmaIfALinkIsCutForSeconds() throws Exception {
        var byRdma = cluster.metric(Metric.BLOCKS_READ);
        var byTcp = cluster.metric(Metric.BLOCKS_BY_TCP);

        var blocks = cluster.remoteBlocks();
        var wait = cluster.fetchWaitMillis();

        readWithCutLink("link cut until a task has waited", true);
        assertThat(cluster.fetchWaitMillis()).isGreaterThanOrEqualTo(wait + MIN_WAIT.toMillis());
        cluster.awaitMetric(Metric.BLOCKS_READ, byRdma + cluster.remoteBlocks() - blocks);
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isEqualTo(byTcp);
        awaitRelease();
    }

    @Test
    @Order(3)
    void shouldReadOverTcpIfALinkIsCutPermanently() throws Exception {
        var byTcp = cluster.metric(Metric.BLOCKS_BY_TCP);

        readWithCutLink("link cut permanently", false);
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isGreaterThan(byTcp);
        awaitRelease();
    }

    /**
     * Reads the shuffle, and checks that one executor has cut its link during this time, and that
     * no map task was repeated.
     */
    private void readWithCutLink(String failure, boolean isRestored) throws Exception {
        var mapTasks = cluster.mapTasks();
        var cuts = cluster.session().sparkContext().longAccumulator();
        readDuring(
                failure, cutLinkAtFirstRecord(shuffled, cluster.anyExecutor(), isRestored, cuts));
        assertThat(cuts.value()).isEqualTo(1);
        cluster.settle();
        assertThat(cluster.mapTasks()).isEqualTo(mapTasks);
    }

    /** Returns the same records. An executor cuts its link when it has read the first record. */
    private static JavaPairRDD<Long, byte[]> cutLinkAtFirstRecord(
            JavaPairRDD<Long, byte[]> records,
            String executor,
            boolean isRestored,
            LongAccumulator cuts) {
        var key = "test.link." + cuts.id();
        return records.mapToPair(record -> {
            if (SparkEnv.get().executorId().equals(executor)
                    && System.setProperty(key, "cut") == null) {
                CuttableLinkFabric.cutLink();
                if (isRestored) {
                    Thread.ofPlatform().daemon().start(FailureTest::restoreLinkAfterTaskHasWaited);
                }
                cuts.add(1);
            }
            return record;
        });
    }

    /** Restores the link of this executor when one of its tasks has waited for a while. */
    private static void restoreLinkAfterTaskHasWaited() {
        Map<Long, Long> waits;
        do {
            waits = waits();
            sleep(MIN_WAIT);
            waits.entrySet().retainAll(waits().entrySet());
        } while (waits.isEmpty());
        CuttableLinkFabric.restoreLink();
    }

    /**
     * The threads of this executor that wait for a block, and how often each of them has waited.
     */
    private static Map<Long, Long> waits() {
        return Arrays.stream(ManagementFactory.getThreadMXBean().dumpAllThreads(false, false))
                .filter(thread -> thread.getThreadState() == Thread.State.WAITING)
                .filter(thread ->
                        Arrays.stream(thread.getStackTrace())
                                .map(StackTraceElement::getClassName)
                                .anyMatch(ShuffleBlockFetcherIterator.class.getName()::equals))
                .collect(toMap(ThreadInfo::getThreadId, ThreadInfo::getWaitedCount));
    }

    private static void sleep(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
