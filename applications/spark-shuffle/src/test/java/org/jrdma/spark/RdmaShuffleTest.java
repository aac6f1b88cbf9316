package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests jobs with two executors that read blocks by RDMA on the software fabric. */
@Tag("slow")
@Tag("long")
class RdmaShuffleTest {

    private static final int RECORDS = 100_000;
    private static final Duration REPORT_TIMEOUT = Duration.ofSeconds(30);

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

    /** Runs all jobs, compares the results with those of stock Spark, and prints the time. */
    private static void runJobs(String condition, LocalCluster cluster) throws Exception {
        var start = System.nanoTime();
        assertThat(run(cluster.session())).isEqualTo(expected);
        System.out.printf(
                "%s: the jobs took %d ms%n", condition, (System.nanoTime() - start) / 1_000_000);
        cluster.settle();
        assertThat(cluster.remoteBlocks()).isPositive();
    }

    private static void shouldHaveReadEveryRemoteBlockByRdma(LocalCluster cluster)
            throws InterruptedException {
        cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
        assertThat(cluster.metric(Metric.BYTES_READ)).isEqualTo(cluster.remoteBytes());
        assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();
        assertThat(cluster.metric(Metric.REGISTRATIONS)).isPositive();
    }

    @Test
    void shouldReadEveryRemoteBlockByRdmaAndDeregisterAllMapOutputs() throws Exception {
        try (var cluster = LocalCluster.start(Map.of())) {
            runJobs("no failure", cluster);

            shouldHaveReadEveryRemoteBlockByRdma(cluster);
            cluster.awaitRelease();
        }
    }

    @Test
    void shouldReadPartitionsAtOnceThatAdaptiveExecutionCoalesces() throws Exception {
        try (var cluster = LocalCluster.start(Map.of())) {
            var single = remoteBlocksOfJoin(cluster, false);
            var batches = remoteBlocksOfJoin(cluster, true);

            assertThat(batches).isPositive().isLessThan(single);
            shouldHaveReadEveryRemoteBlockByRdma(cluster);
        }
    }

    /** Joins tables, and returns the number of remote blocks, each of which may be a batch. */
    private static long remoteBlocksOfJoin(LocalCluster cluster, boolean inBatches)
            throws Exception {
        var before = cluster.remoteBlocks();
        cluster.session().conf().set("spark.sql.adaptive.fetchShuffleBlocksInBatch", inBatches);
        var joined = ShuffleJobs.joined(cluster.session(), RECORDS);
        assertThat(ShuffleJobs.digest(joined)).isEqualTo(expected.get("join"));
        var execution = ((org.apache.spark.sql.classic.Dataset<Row>) joined).queryExecution();
        assertThat(execution.executedPlan().toString()).contains("AQEShuffleRead coalesced");
        cluster.settle();
        return cluster.remoteBlocks() - before;
    }

    @Test
    void shouldReadEveryRemoteBlockByRdmaOnAStandaloneCluster() throws Exception {
        try (var standalone = StandaloneCluster.start();
                var cluster = LocalCluster.start(Map.of("spark.master", standalone.url()))) {
            runJobs("standalone cluster", cluster);

            shouldHaveReadEveryRemoteBlockByRdma(cluster);
            cluster.awaitRelease();
        }
    }

    @Test
    void shouldReadBlocksThatExceedTheBuffersIntoFilesByRdma() throws Exception {
        try (var cluster = LocalCluster.start(Map.of("spark.jrdma.shuffle.bufferBytes", "512k"))) {
            assertThat(ShuffleJobs.sort(cluster.session(), RECORDS))
                    .isEqualTo(expected.get("sort"));
            cluster.settle();

            assertThat(cluster.remoteBytesToFiles()).isPositive().isEqualTo(cluster.remoteBytes());
            shouldHaveReadEveryRemoteBlockByRdma(cluster);
        }
    }

    @Test
    void shouldReadBlocksBeyondTheLimitOverTcp() throws Exception {
        var settings =
                Map.of(
                        "spark.jrdma.shuffle.registeredBytes", "2m",
                        "spark.jrdma.shuffle.onDemandPaging", "false");
        try (var cluster = LocalCluster.start(settings)) {
            runJobs("registration limit too small", cluster);

            LocalCluster.await(
                    REPORT_TIMEOUT,
                    () ->
                            cluster.metric(Metric.BLOCKS_READ)
                                            + cluster.metric(Metric.BLOCKS_BY_TCP)
                                    == cluster.remoteBlocks());
            assertThat(cluster.metric(Metric.BYTES_READ) + cluster.metric(Metric.BYTES_BY_TCP))
                    .isEqualTo(cluster.remoteBytes());
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isPositive();
            assertThat(cluster.metric(Metric.BLOCKS_READ)).isPositive();
            assertThat(cluster.metric(Metric.REGISTERED_BYTES)).isLessThanOrEqualTo(4 << 20);
            cluster.awaitRelease();
        }
    }

    @Test
    void shouldReadFromAndOnAnExecutorWithoutDeviceOverTcp() throws Exception {
        var plugins = NoDevicePlugin.class.getName() + "," + RdmaShufflePlugin.class.getName();
        try (var cluster = LocalCluster.start(Map.of("spark.plugins", plugins))) {
            runJobs("executor without RDMA", cluster);

            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isPositive();
            assertThat(cluster.metric(Metric.BLOCKS_READ)).isZero();
            cluster.awaitRelease();
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
