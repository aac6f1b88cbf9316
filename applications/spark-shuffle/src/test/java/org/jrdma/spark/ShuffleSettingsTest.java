package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @Test
    void shouldWaitForAnswersAsLongAsSparkWaitsForOtherNetworkTraffic() {
        assertThat(ShuffleSettings.of(new SparkConf(false)).timeouts().reply())
                .isEqualTo(Duration.ofMinutes(2));

        var conf = new SparkConf(false).set("spark.network.timeout", "300");

        assertThat(ShuffleSettings.of(conf).timeouts().reply()).isEqualTo(Duration.ofMinutes(5));
    }

    @Test
    void shouldNameTheSettingWhoseAddressIsInvalid() {
        var conf = new SparkConf(false).set("spark.jrdma.shuffle.address", "ib0");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> ShuffleSettings.of(conf))
                .withMessageContainingAll("spark.jrdma.shuffle.address", "\"ib0\"");
    }

    @ParameterizedTest
    @CsvSource({"64, 64", "64m, 64", "65536k, 64", "1g, 1024"})
    void shouldInterpretTheSizeOfRequestsAsSparkDoes(String size, long mebibytes) {
        var conf =
                new SparkConf(false)
                        .set("spark.executor.cores", "1")
                        .set("spark.reducer.maxSizeInFlight", size);

        assertThat(ShuffleSettings.of(conf).bufferBytes()).isEqualTo(2 * mebibytes * MEBIBYTE);
    }
}
