package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.HashPartitioner;
import org.jrdma.processes.FreePorts;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests a cluster with an external shuffle service, which serves the blocks of executors that have
 * ended.
 */
@Tag("slow")
class ShuffleServiceTest {

    private static final int RECORDS = 20_000;
    private static final int VALUE_BYTES = 100;
    private static final int PARTITIONS = 8;

    @Test
    void shouldReadBlocksByRdmaAndThoseOfAnEndedExecutorFromTheService() throws Exception {
        var service =
                Map.of(
                        "spark.shuffle.service.enabled",
                        "true",
                        "spark.shuffle.service.port",
                        String.valueOf(FreePorts.one()),
                        "spark.shuffle.service.db.enabled",
                        "false");
        try (var standalone = StandaloneCluster.start(service);
                var cluster = LocalCluster.start(with(service, "spark.master", standalone.url()))) {
            var shuffled =
                    ShuffleJobs.records(cluster.session(), RECORDS, VALUE_BYTES)
                            .partitionBy(new HashPartitioner(PARTITIONS));
            var expected = ShuffleJobs.read(shuffled, 0);
            cluster.settle();
            assertThat(cluster.remoteBlocks()).isPositive();
            cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());
            assertThat(cluster.metric(Metric.BLOCKS_BY_TCP)).isZero();

            var mapTasks = cluster.mapTasks();
            assertThat(LocalCluster.executors().getFirst().destroyForcibly()).isTrue();
            assertThat(ShuffleJobs.read(shuffled, 0)).isEqualTo(expected);

            cluster.settle();
            assertThat(cluster.mapTasks()).as("map tasks are not repeated").isEqualTo(mapTasks);
            LocalCluster.await(
                    BlockTransferFixture.TIMEOUT, () -> cluster.metric(Metric.BLOCKS_BY_TCP) > 0);
        }
    }

    private static Map<String, String> with(
            Map<String, String> settings, String key, String value) {
        var more = new TreeMap<>(settings);
        more.put(key, value);
        return more;
    }
}
