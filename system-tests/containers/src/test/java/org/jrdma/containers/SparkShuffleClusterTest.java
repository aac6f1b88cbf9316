package org.jrdma.containers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;

/**
 * Tests the Spark plug-in with a standalone cluster: the master, two workers and the driver run on
 * hosts of their own. The executors read blocks of each other over the network.
 */
class SparkShuffleClusterTest {

    private static final String CLASS_PATH = System.getProperty("jrdma.test.spark.class.path");
    private static final String JVM_OPTIONS = System.getProperty("jrdma.test.spark.jvm");
    private static final String MASTER = "spark://master:7077";
    private static final String SPARK_HOME = "/tmp/spark";

    /** Creates the folder that Spark requires, and executes the arguments. */
    private static final String CREATE_SPARK_HOME =
            "busybox mkdir -p " + SPARK_HOME + "/jars && exec \"$@\"";

    private static final String EXECUTOR_OPTIONS =
            "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djrdma.fabric=software"
                    + " -Djrdma.soft.devices=eth0";

    private Network network;

    @BeforeEach
    void createNetwork() {
        network = Network.newNetwork();
    }

    @AfterEach
    void removeNetwork() {
        network.close();
    }

    /** Starts a host and a program of Spark on it. */
    private ProgramContainer start(
            String name, List<String> options, String program, String... arguments) {
        var command = new ArrayList<>(List.of("sh", "-c", CREATE_SPARK_HOME, "sh"));
        command.addAll(List.of("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"));
        command.addAll(List.of(JVM_OPTIONS.split(" ")));
        command.addAll(options);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", CLASS_PATH, program));
        command.addAll(List.of(arguments));
        return ProgramContainer.named(network, name)
                .reading(directoriesOfClassPath())
                .run(
                        Map.of(
                                "JAVA_HOME",
                                "/jdk",
                                "SPARK_HOME",
                                SPARK_HOME,
                                "SPARK_SCALA_VERSION",
                                "2.13",
                                "SPARK_LOCAL_HOSTNAME",
                                name),
                        command);
    }

    /** The directories of this machine that contain the class path, without those within others. */
    private static List<Path> directoriesOfClassPath() {
        var repository = Path.of(System.getProperty("jrdma.test.repository"));
        return Stream.concat(
                        Stream.of(repository),
                        Stream.of(CLASS_PATH.split(File.pathSeparator))
                                .map(Path::of)
                                .filter(entry -> !entry.startsWith(repository)))
                .toList();
    }

    private ProgramContainer startWorker(String name) {
        return start(
                name,
                List.of(),
                "org.apache.spark.deploy.worker.Worker",
                "--cores",
                "1",
                "--memory",
                "512m",
                MASTER);
    }

    private ProgramContainer startCheck(int records) {
        var settings =
                Map.of(
                        "spark.master", MASTER,
                        "spark.driver.host", "driver",
                        "spark.ui.enabled", "false",
                        "spark.plugins", "org.jrdma.spark.RdmaShufflePlugin",
                        "spark.executor.memory", "512m",
                        // Both executors must run before the first task starts.
                        "spark.cores.max", "2",
                        "spark.scheduler.minRegisteredResourcesRatio", "1.0",
                        "spark.executor.extraClassPath", CLASS_PATH,
                        "spark.executor.extraJavaOptions", EXECUTOR_OPTIONS);
        return start(
                "driver",
                settings.entrySet().stream()
                        .map(setting -> "-D" + setting.getKey() + "=" + setting.getValue())
                        .toList(),
                "org.jrdma.spark.ShuffleCheck",
                String.valueOf(records));
    }

    @Test
    void shouldReadAllBlocksOfTheOtherHostByRdma() throws Exception {
        try (var master =
                        start(
                                "master",
                                List.of(),
                                "org.apache.spark.deploy.master.Master",
                                "--host",
                                "master");
                var first = startWorker("worker1");
                var second = startWorker("worker2")) {
            first.awaitOutput("Successfully registered with master");
            second.awaitOutput("Successfully registered with master");
            try (var driver = startCheck(100_000)) {
                assertThat(driver.await()).as(driver.output() + master.output()).isZero();

                assertThat(driver.output())
                        .contains("100000 records are sorted.")
                        .containsPattern(
                                "(?m)^Remote blocks: [1-9]\\d* by RDMA \\(\\d+ bytes\\), 0 over TCP\\.$");
            }
        }
    }
}
