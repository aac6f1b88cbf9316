package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaPairRDD;
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
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FailureTest {

    private static final int RECORDS = 50_000;
    private static final int VALUE_BYTES = 500;
    private static final int PARTITIONS = 16;
    private static final int PAUSE_MILLIS = 20;

    /** The channels of an executor that reads from the other one and serves it. */
    private static final int CHANNELS = 2;

    private static final Duration BEFORE_FAILURE = Duration.ofSeconds(2);
    private static final Duration FOREVER = Duration.ofDays(1);

    private static LocalCluster cluster;
    private static long millisWithoutFailure;

    /** The RDMA descriptors of an executor whose channels are open. */
    private static long descriptors;

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
        descriptors =
                LocalCluster.executors().stream()
                        .mapToLong(LocalCluster::rdmaDescriptors)
                        .max()
                        .orElseThrow();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @BeforeEach
    void shuffle() throws InterruptedException {
        cluster.awaitExecutors(2);
        shuffled = newShuffle();
        expected = ShuffleJobs.read(shuffled, 0);
    }

    private static JavaPairRDD<Long, byte[]> newShuffle() {
        return ShuffleJobs.records(cluster.session(), RECORDS, VALUE_BYTES)
                .partitionBy(new HashPartitioner(PARTITIONS));
    }

    /** Reads the shuffle during a failure, and prints how long this took. */
    private void readDuring(String failure) {
        var start = System.nanoTime();
        assertThat(ShuffleJobs.read(shuffled, PAUSE_MILLIS)).isEqualTo(expected);
        var millis = millisSince(start);
        System.out.printf(
                "%s: the job took %d ms, %d ms more than without a failure%n",
                failure, millis, millis - millisWithoutFailure);
    }

    /** Removes the shuffle, and checks that the executors release all that they had for it. */
    private void awaitRelease(long maxDescriptors) throws InterruptedException {
        shuffled = null;
        cluster.awaitRelease(maxDescriptors);
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

        readDuring("executor killed");
        assertThat(victim.isAlive()).isFalse();
        awaitRelease(descriptors);
    }

    @Test
    @Order(2)
    void shouldReadByRdmaIfACableIsPulledForThreeSeconds() throws Exception {
        var byRdma = cluster.metric(Metric.BLOCKS_READ);
        var byTcp = cluster.metric(Metric.BLOCKS_BY_TCP);
        pullCable(Duration.ofSeconds(3));

        readDuring("cable pulled for three seconds");
        assertThat(cluster.metric(Metric.BLOCKS_READ)).isGreaterThan(byRdma);
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isEqualTo(byTcp);
        awaitRelease(descriptors);
    }

    @Test
    @Order(3)
    void shouldReadOverTcpIfACableIsPulledPermanently() throws Exception {
        var byTcp = cluster.metric(Metric.BLOCKS_BY_TCP);
        pullCable(FOREVER);

        readDuring("cable pulled permanently");
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isGreaterThan(byTcp);
        awaitRelease(descriptors - CHANNELS);
    }

    /** Pulls the cable of one executor after a while, without waiting. */
    private static void pullCable(Duration duration) {
        ShuffleJobs.context(cluster.session())
                .parallelize(IntStream.range(0, 8).boxed().toList(), 8)
                .foreach(_ -> {
                    if (isFirstCallOnLastExecutor()) {
                        Thread.ofPlatform()
                                .daemon()
                                .start(() -> {
                                    sleep(BEFORE_FAILURE);
                                    UnpluggableFabric.pullCable();
                                    sleep(duration);
                                    UnpluggableFabric.insertCable();
                                    System.clearProperty("test.cable");
                                });
                    }
                });
    }

    /** Whether this is the first task on the executor whose cable is pulled. */
    private static boolean isFirstCallOnLastExecutor() {
        return !SparkEnv.get().executorId().equals("0")
                && System.setProperty("test.cable", "pulled") == null;
    }

    private static void sleep(Duration duration) {
        try {
            Thread.sleep(duration);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
