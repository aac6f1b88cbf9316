package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests jobs with two executors whose blocks are read by RDMA on the software fabric. */
@Tag("slow")
class RdmaShuffleTest {

    private static final int RECORDS = 100_000;

    private static final Map<String, ShuffleJobs.Job> JOBS =
            Map.of(
                    "sort", ShuffleJobs::sort,
                    "group", ShuffleJobs::group,
                    "rank", ShuffleJobs::rank,
                    "join", ShuffleJobs::join);

    @Test
    void shouldReadEveryRemoteBlockByRdmaWithTheResultsOfStockSpark() throws Exception {
        Map<String, String> expected;
        try (var cluster = LocalCluster.stock()) {
            expected = run(cluster.session());
        }
        try (var cluster = LocalCluster.withPlugin(Map.of())) {
            assertThat(run(cluster.session())).isEqualTo(expected);

            assertThat(cluster.remoteBlocks()).isPositive();
            cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();
        }
    }

    private static Map<String, String> run(SparkSession session) {
        var results = new LinkedHashMap<String, String>();
        JOBS.forEach((name, job) -> results.put(name, job.run(session, RECORDS)));
        return results;
    }
}
