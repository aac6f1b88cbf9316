package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Tests the compose file and the Dockerfile of the Spark plug-in: a standalone cluster whose master
 * and two workers are hosts of their own. The executors read blocks of each other over the network.
 */
class SparkShuffleClusterTest {

    private static final String IMAGE = "jrdma-spark:test";
    private static final String MASTER = "master";
    private static final List<String> WORKERS = List.of("worker1", "worker2");
    private static final String CHECK = "check";

    /** Makes JVMs that run for seconds start faster. */
    private static final Map<String, String> QUICK =
            Map.of("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC");

    private static final List<ProgramContainer> CLUSTER = new ArrayList<>();
    private static final Network NETWORK = Network.newNetwork();

    private static ComposeFile compose;

    @BeforeAll
    static void startCluster() throws Exception {
        compose =
                ComposeFile.read(
                                "applications/spark-shuffle",
                                Map.of("SPARK_HOME", System.getProperty("jrdma.test.spark.home")))
                        .withEnvironment(QUICK);
        assertThat(compose.services())
                .containsOnlyKeys(MASTER, WORKERS.getFirst(), WORKERS.getLast(), CHECK);
        start(MASTER).awaitOutput("I have been elected leader");
        compose.checkHealth(MASTER, CLUSTER.getFirst());
        var workers = WORKERS.stream().map(SparkShuffleClusterTest::start).toList();
        for (var worker : workers) {
            worker.awaitOutput("Successfully registered with master");
        }
    }

    private static ProgramContainer start(String service) {
        var started = compose.start(NETWORK, service, IMAGE);
        CLUSTER.add(started);
        return started;
    }

    @AfterAll
    static void stopCluster() {
        CLUSTER.reversed().forEach(ProgramContainer::close);
        NETWORK.close();
    }

    @Test
    void shouldReadAllBlocksOfTheOtherHostByRdma() throws Exception {
        try (var check = compose.start(NETWORK, CHECK, IMAGE)) {
            assertThat(check.await()).as(check.output()).isZero();

            assertThat(check.output())
                    .contains("200000 records are sorted.")
                    .containsPattern(
                            "(?m)^Remote blocks: [1-9]\\d* by RDMA \\([1-9]\\d* bytes\\), 0 over TCP\\.$");
        }
    }

    @Test
    void shouldFailTheCheckIfTheHostsHaveNoDevices() throws Exception {
        var command = new ArrayList<>(compose.services().get(CHECK).command());
        assertThat(command.removeIf(option -> option.contains("jrdma.fabric=software"))).isTrue();

        try (var check = compose.start(NETWORK, CHECK, IMAGE, command)) {
            assertThat(check.await()).as(check.output()).isOne();

            assertThat(check.output())
                    .contains("200000 records are sorted.")
                    .containsPattern("Executor \\d on \\S+ has no RDMA and uses TCP")
                    .containsPattern(
                            "(?m)^Remote blocks: 0 by RDMA \\(0 bytes\\), [1-9]\\d* over TCP\\.$");
        }
    }
}
