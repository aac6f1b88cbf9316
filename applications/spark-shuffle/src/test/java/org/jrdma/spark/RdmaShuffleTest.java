package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests jobs with two executors that read blocks by RDMA on the software fabric. */
@Tag("slow")
class RdmaShuffleTest {

    private static final int RECORDS = 100_000;

    private static final Map<String, ShuffleJobs.Job> JOBS =
            Map.of(
                    "sort", ShuffleJobs::sort,
                    "group", ShuffleJobs::group,
                    "rank", ShuffleJobs::rank,
                    "join", ShuffleJobs::join);

    private static Map<String, String> expected;

    @BeforeAll
    static void runJobsWithoutPlugin() throws Exception {
        try (var session = LocalCluster.stock()) {
            expected = run(session);
        }
    }

    private static Map<String, String> run(SparkSession session) {
        var results = new TreeMap<String, String>();
        JOBS.forEach((name, job) -> results.put(name, job.run(session, RECORDS)));
        return results;
    }

    @Test
    void shouldReadEveryRemoteBlockByRdmaAndDeregisterAllMapOutputs() throws Exception {
        try (var cluster = LocalCluster.start(Map.of())) {
            assertThat(run(cluster.session())).isEqualTo(expected);

            assertThat(cluster.remoteBlocks()).isPositive();
            cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();
            assertThat(cluster.metric(Metric.REGISTRATIONS)).isPositive();

            cluster.forgetShuffles();
            cluster.awaitMetric(Metric.REGISTERED_FILES, 0);
            cluster.awaitMetric(Metric.REGISTERED_BYTES, 0);
            cluster.awaitMetric(Metric.BUFFER_BYTES_USED, 0);
        }
    }

    @Test
    void shouldReadEncryptedBlocksIntoMemoryAndFilesDespitePacketLoss() throws Exception {
        var settings =
                Map.of(
                        "spark.io.encryption.enabled", "true",
                        "spark.authenticate", "true",
                        "spark.authenticate.secret", "secret",
                        "spark.network.maxRemoteBlockSizeFetchToMem", "64k",
                        "spark.executor.extraJavaOptions",
                                "-Djrdma.fabric=software -Djrdma.soft.loss=0.02");
        try (var cluster = LocalCluster.start(settings)) {
            assertThat(run(cluster.session())).isEqualTo(expected);

            assertThat(cluster.remoteBytesToFiles()).isPositive();
            cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();
        }
    }

    @Test
    void shouldReadBlocksBeyondTheLimitOverTcp() throws Exception {
        var settings =
                Map.of(
                        "spark.jrdma.shuffle.registeredBytes", "2m",
                        "spark.jrdma.shuffle.onDemandPaging", "false");
        try (var cluster = LocalCluster.start(settings)) {
            assertThat(run(cluster.session())).isEqualTo(expected);

            cluster.awaitMetric(
                    Metric.BLOCKS_BY_TCP,
                    cluster.remoteBlocks() - cluster.metric(Metric.BLOCKS_READ));
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isPositive();
            assertThat(cluster.metric(Metric.BLOCKS_READ)).isPositive();
            assertThat(cluster.metric(Metric.REGISTERED_BYTES)).isLessThanOrEqualTo(4 << 20);
        }
    }

    @Test
    void shouldReadFromAndOnAnExecutorWithoutDeviceOverTcp() throws Exception {
        var plugins = NoDevicePlugin.class.getName() + "," + RdmaShufflePlugin.class.getName();
        try (var cluster = LocalCluster.start(Map.of("spark.plugins", plugins))) {
            assertThat(run(cluster.session())).isEqualTo(expected);

            assertThat(cluster.remoteBlocks()).isPositive();
            assertThat(cluster.metric(Metric.BLOCKS_READ)).isZero();
        }
    }

    @Test
    void shouldUseStockSparkIfConnectionsAreProtectedButBlocksAreNot() throws Exception {
        var settings = Map.of("spark.authenticate", "true", "spark.authenticate.secret", "secret");
        try (var cluster = LocalCluster.start(settings)) {
            assertThat(ShuffleJobs.sort(cluster.session(), RECORDS))
                    .isEqualTo(expected.get("sort"));

            assertThat(cluster.session().sparkContext().getConf().get("spark.shuffle.manager", ""))
                    .isEmpty();
            assertThat(cluster.metric(Metric.BLOCKS_READ)).isZero();
        }
    }
}
