package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the check of a cluster: a driver process, and two executors on the software fabric. */
@Tag("slow")
class ShuffleCheckTest {

    private static final String RDMA = RdmaShufflePlugin.class.getName();

    /** Makes JVMs that run for seconds start faster. */
    private static final List<String> QUICK =
            List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static Program check(String plugins) throws IOException {
        Files.createDirectories(Path.of(System.getenv("SPARK_HOME"), "jars"));
        var command = StandaloneCluster.java();
        command.addAll(QUICK);
        Map.of(
                        "spark.master", "local-cluster[2,1,512]",
                        "spark.driver.host", "localhost",
                        "spark.ui.enabled", "false",
                        "spark.plugins", plugins,
                        "spark.executor.memory", "512m",
                        // Both executors must run before the first task starts.
                        "spark.cores.max", "2",
                        "spark.scheduler.minRegisteredResourcesRatio", "1.0",
                        "spark.executor.extraClassPath", System.getProperty("java.class.path"),
                        "spark.executor.extraJavaOptions",
                                "-Djrdma.fabric=software " + String.join(" ", QUICK),
                        "spark.shuffle.readHostLocalDisk", "false")
                .forEach((name, value) -> command.add("-D" + name + "=" + value));
        command.addAll(List.of(ShuffleCheck.class.getName(), "20000"));
        return Program.start(command);
    }

    @Test
    void shouldSucceedIfAllBlocksAreReadByRdma() throws Exception {
        try (var program = check(RDMA)) {
            program.awaitOutput("20000 records are sorted.");
            assertThat(program.await()).as(program.output()).isZero();

            assertThat(program.output())
                    .containsPattern(
                            "(?m)^Remote blocks: [1-9]\\d* by RDMA \\(\\d+ bytes\\), 0 over TCP\\.$");
        }
    }

    @Test
    void shouldFailIfAnExecutorHasNoRdmaAndNameThisExecutorInTheLogOfTheDriver() throws Exception {
        try (var program = check(NoDevicePlugin.class.getName() + "," + RDMA)) {
            program.awaitOutput("20000 records are sorted.");
            assertThat(program.await()).as(program.output()).isOne();

            assertThat(program.output())
                    .containsPattern(
                            "(?m)^Remote blocks: 0 by RDMA \\(0 bytes\\), [1-9]\\d* over TCP")
                    .contains("The check has failed.")
                    .containsOnlyOnce("has no RDMA and uses TCP")
                    .containsPattern("WARN .*Executor 1 on \\S+ has no RDMA and uses TCP");
        }
    }

    @Test
    void shouldNoticeThatAShuffleHasChangedAValue() {
        var records = new RandomRecords(2, 1_000, 1_000);

        assertThat(sortOnOneCore(records, "lz4")).isEqualTo(records.digest());
        assertThat(sortOnOneCore(records, CorruptingCodec.class.getName()).count())
                .isEqualTo(2_000);
        assertThat(sortOnOneCore(records, CorruptingCodec.class.getName()))
                .isNotEqualTo(records.digest());
    }

    private static RecordDigest sortOnOneCore(RandomRecords records, String codec) {
        var conf =
                new SparkConf()
                        .setAppName("check")
                        .setMaster("local[1]")
                        .set("spark.ui.enabled", "false")
                        .set("spark.broadcast.compress", "false")
                        .set("spark.io.compression.codec", codec);
        try (var context = new JavaSparkContext(conf)) {
            return ShuffleCheck.sort(context, records);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-5"})
    void shouldPrintHowItIsUsedIfTheNumberOfRecordsIsMissingOrInvalid(String arguments)
            throws Exception {
        var command = StandaloneCluster.java();
        command.add(ShuffleCheck.class.getName());
        command.addAll(List.of(arguments.split(" ", -1)));
        command.remove("");
        try (var program = Program.start(command)) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output()).contains("Usage: ShuffleCheck RECORDS");
        }
    }
}
