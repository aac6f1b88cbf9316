package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.apache.spark.metrics.sink.CsvSink;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that users see the metrics in the web UI of the driver and in a sink of the executors. */
@Tag("slow")
class MetricsSystemTest {

    private static final String SINK = "spark.metrics.conf.executor.sink.csv.";

    @TempDir Path folder;

    @Test
    void shouldShowBlocksInTheWebUiOfTheDriverAndInTheSinkOfTheExecutors() throws Exception {
        var settings =
                Map.of(
                        "spark.ui.enabled",
                        "true",
                        "spark.ui.port",
                        "0",
                        SINK + "class",
                        CsvSink.class.getName(),
                        SINK + "directory",
                        folder.toString(),
                        SINK + "period",
                        "1");
        try (var cluster = LocalCluster.start(settings)) {
            ShuffleJobs.sort(cluster.session(), 20_000);
            cluster.settle();
            assertThat(cluster.remoteBlocks()).isPositive();
            cluster.awaitMetric(Metric.BLOCKS_READ, cluster.remoteBlocks());

            assertThat(inWebUi(cluster.session(), Metric.BLOCKS_READ))
                    .containsExactly(cluster.remoteBlocks());
            assertThat(inWebUi(cluster.session(), Metric.BYTES_READ))
                    .containsExactly(cluster.remoteBytes());
            assertThat(inWebUi(cluster.session(), Metric.BYTES_BY_TCP)).containsExactly(0L);
            LocalCluster.await(
                    BlockTransferFixture.TIMEOUT,
                    () -> inSinks(Metric.BYTES_READ) == cluster.remoteBytes());
        }
    }

    private static List<Long> inWebUi(SparkSession session, Metric metric) throws Exception {
        var page = URI.create(session.sparkContext().uiWebUrl().get()).resolve("/metrics/json/");
        try (var client = HttpClient.newHttpClient()) {
            var json =
                    client.send(
                                    HttpRequest.newBuilder(page).build(),
                                    HttpResponse.BodyHandlers.ofString())
                            .body();
            var gauge =
                    Pattern.compile(
                            "\"%s\\.driver\\.plugin\\.%s\\.%s\":\\{\"value\":(\\d+)}"
                                    .formatted(
                                            session.sparkContext().applicationId(),
                                            RdmaShufflePlugin.class.getName(),
                                            metric.key()));
            return gauge.matcher(json)
                    .results()
                    .map(result -> Long.valueOf(result.group(1)))
                    .toList();
        }
    }

    /** The sum of the newest values of a metric that the executors have written to files. */
    private long inSinks(Metric metric) {
        var name = "plugin.%s.%s.csv".formatted(RdmaShufflePlugin.class.getName(), metric.key());
        var sum = 0L;
        try (var files = Files.newDirectoryStream(folder, "*." + name)) {
            for (var file : files) {
                var last = Files.readAllLines(file).getLast();
                sum += Long.parseLong(last.split(",", -1)[1]);
            }
        } catch (IOException | NumberFormatException e) {
            return -1; // An executor is writing a file.
        }
        return sum;
    }
}
