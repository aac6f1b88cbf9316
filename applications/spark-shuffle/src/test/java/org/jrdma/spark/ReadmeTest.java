package org.jrdma.spark;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Tests that README.md describes each setting and each metric of the plug-in. */
class ReadmeTest {

    private static final String PREFIX = "spark.jrdma.";

    /** The first cell of a row of a table. */
    private static final Pattern FIRST_CELL = Pattern.compile("(?m)^\\| (`[^|]*) \\|");

    private static final Pattern NAME = Pattern.compile("`([^`]*)`");

    /** Returns the names in the first column of the table of a section. */
    private static Set<String> names(String section) throws IOException {
        var text = Files.readString(Path.of("README.md"));
        var start = text.indexOf("\n## " + section + "\n") + 1;
        assertThat(start).isPositive();
        return FIRST_CELL
                .matcher(text.substring(start, text.indexOf("\n## ", start)))
                .results()
                .flatMap(cell -> NAME.matcher(cell.group(1)).results())
                .map(name -> name.group(1))
                .collect(toSet());
    }

    @Test
    void shouldDescribeEachSettingThatThePluginReads() throws IOException {
        var keys = new TreeSet<String>();
        var conf =
                new SparkConf(false) {
                    @Override
                    public Option<String> getOption(String key) {
                        keys.add(key);
                        return super.getOption(key);
                    }
                };
        new RdmaDriverPlugin().init("4.2.0", conf, _ -> {});
        ShuffleSettings.of(conf);
        keys.removeIf(key -> !key.startsWith(PREFIX));

        var described = names("Settings");
        assertThat(described).contains("spark.plugins");
        described.removeIf(name -> !name.startsWith(PREFIX));
        assertThat(described).isEqualTo(keys);
    }

    @Test
    void shouldDescribeEachMetric() throws IOException {
        assertThat(names("Metrics"))
                .isEqualTo(Arrays.stream(Metric.values()).map(Metric::key).collect(toSet()));
    }
}
