package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests jobs with encrypted blocks, packet loss, blocks that are read into files, and an executor
 * that is killed. CI has no time for a cluster for each of these conditions.
 */
@Tag("slow")
class CombinedConditionsTest {

    private static final int RECORDS = 20_000;
    private static final int VALUE_BYTES = 500;
    private static final int PARTITIONS = 8;

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
                ShuffleJobs.records(cluster.session(), RECORDS, VALUE_BYTES)
                        .partitionBy(new HashPartitioner(PARTITIONS));
        var expected = ShuffleJobs.read(shuffled, 0);
        cluster.settle();
        var mapTasks = cluster.mapTasks();
        var victim = cluster.anyExecutor();

        var read =
                ShuffleJobs.read(
                        shuffled.mapToPair(record -> {
                            if (SparkEnv.get().executorId().equals(victim)) {
                                Runtime.getRuntime().halt(1); // at its first record
                            }
                            return record;
                        }),
                        0);

        assertThat(read).isEqualTo(expected);
        cluster.settle();
        assertThat(cluster.mapTasks()).isGreaterThan(mapTasks);
    }
}
