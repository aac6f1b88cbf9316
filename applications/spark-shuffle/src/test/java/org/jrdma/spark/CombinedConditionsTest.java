package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import scala.Tuple2;

/**
 * Tests jobs with encrypted blocks, packet loss, blocks that are read into files, and an executor
 * that is killed. CI has no time for a cluster for each of these conditions.
 */
@Tag("slow")
class CombinedConditionsTest {

    private static final int RECORDS = 20_000;
    private static final int VALUE_BYTES = 500;
    private static final int MAP_TASKS = 16;
    private static final int REDUCE_TASKS = 4;

    private static final Map<String, ShuffleJobs.Job> JOBS =
            Map.of(
                    "sort", ShuffleJobs::sort,
                    "group", ShuffleJobs::group,
                    "join", ShuffleJobs::join);

    private static final Map<String, String> SETTINGS =
            Map.of(
                    "spark.io.encryption.enabled", "true",
                    "spark.authenticate", "true",
                    "spark.authenticate.secret", "secret",
                    "spark.network.maxRemoteBlockSizeFetchToMem", "64k",
                    // A task has one request in flight and more to send when it reads records.
                    "spark.reducer.maxSizeInFlight", "1m",
                    "spark.reducer.maxReqsInFlight", "1",
                    "spark.executor.extraJavaOptions",
                            "-Djrdma.fabric=software -Djrdma.soft.loss=0.02");

    private static Map<String, String> run(SparkSession session) {
        var results = new TreeMap<String, String>();
        JOBS.forEach((name, job) -> results.put(name, job.run(session, RECORDS)));
        return results;
    }

    @Test
    void shouldReadBlocksByRdmaAndRepeatTheMapTasksOfAnExecutorThatWasKilled() throws Exception {
        Map<String, String> expected;
        try (var session = LocalCluster.stock()) {
            expected = run(session);
        }
        try (var cluster = LocalCluster.start(SETTINGS)) {
            assertThat(run(cluster.session())).isEqualTo(expected);
            shouldHaveReadEveryRemoteBlockByRdma(cluster);

            shouldHaveTheSameResultIfAnExecutorIsKilled(cluster);
            cluster.awaitRelease();
        }
    }

    private static void shouldHaveReadEveryRemoteBlockByRdma(LocalCluster cluster)
            throws Exception {
        cluster.settle();
        assertThat(cluster.remoteBytesToFiles()).isPositive().isLessThan(cluster.remoteBytes());
        assertThat(lostPackets(cluster)).isPositive();
        cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
        assertThat(cluster.metric(Metric.BYTES_READ)).isEqualTo(cluster.remoteBytes());
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();
    }

    private static long lostPackets(LocalCluster cluster) {
        return ShuffleJobs.context(cluster.session())
                .parallelize(List.of(1, 2), 2)
                .map(_ -> CuttableLinkFabric.lostPackets())
                .reduce(Long::sum);
    }

    private static void shouldHaveTheSameResultIfAnExecutorIsKilled(LocalCluster cluster)
            throws Exception {
        var shuffled =
                new RandomRecords(MAP_TASKS, RECORDS / MAP_TASKS, VALUE_BYTES)
                        .distribute(ShuffleJobs.context(cluster.session()))
                        .mapValues(value -> new Tuple2<>(ProcessHandle.current().pid(), value))
                        .partitionBy(new HashPartitioner(REDUCE_TASKS));
        var expected = ShuffleJobs.read(shuffled.mapValues(Tuple2::_2), 0);
        // The executor with most map outputs, so that a task has to send several requests to it.
        var victim =
                shuffled.values().map(Tuple2::_1).countByValue().entrySet().stream()
                        .max(Map.Entry.comparingByValue())
                        .orElseThrow()
                        .getKey();
        cluster.settle();
        var mapTasks = cluster.mapTasks();
        var interruptedReads = cluster.interruptedReads();

        var read =
                ShuffleJobs.read(
                        shuffled.mapValues(value -> {
                            if (value._1().equals(victim)) {
                                killUnlessThisProcess(victim);
                            }
                            return value._2();
                        }),
                        0);

        assertThat(read).isEqualTo(expected);
        cluster.awaitInterruptedRead(interruptedReads);
        cluster.settle();
        assertThat(cluster.mapTasks()).isGreaterThan(mapTasks);
    }

    /** Kills another process, and waits for its end. */
    private static void killUnlessThisProcess(long pid) {
        if (ProcessHandle.current().pid() != pid) {
            ProcessHandle.of(pid)
                    .filter(ProcessHandle::destroyForcibly)
                    .ifPresent(killed -> killed.onExit().join());
        }
    }
}
