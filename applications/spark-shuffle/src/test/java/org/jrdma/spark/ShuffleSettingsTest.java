package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ShuffleSettingsTest {

    private static final long MEBIBYTE = 1 << 20;

    @Test
    void shouldHaveBuffersForAllProcessorsIfTheNumberOfCoresIsNotSet() {
        assertThat(ShuffleSettings.of(new SparkConf(false)).bufferBytes())
                .isEqualTo(2 * 48 * MEBIBYTE * Runtime.getRuntime().availableProcessors());
    }

    @Test
    void shouldHaveBuffersForTheCoresOfTheExecutor() {
        var conf = new SparkConf(false).set("spark.executor.cores", "3");

        assertThat(ShuffleSettings.of(conf).bufferBytes()).isEqualTo(6 * 48 * MEBIBYTE);
    }
}
