package org.jrdma.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jrdma.verbs.internal.DurationCodes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the conversion of durations to the codes of the protocol. */
class DurationOptionsTest {

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "8192, 1",
        "8193, 2",
        "67108864, 14",
        "67108865, 15",
        "60000000, 14",
        "8796093022208, 31",
        "8796093022209, 0"
    })
    void shouldRoundAnAcknowledgeTimeoutUp(long nanos, byte exponent) {
        assertThat(DurationCodes.acknowledgeTimeout(Duration.ofNanos(nanos))).isEqualTo(exponent);
    }

    @ParameterizedTest
    @CsvSource({
        "1, 1",
        "10000, 1",
        "10001, 2",
        "40000, 4",
        "40001, 5",
        "640000, 12",
        "640001, 13",
        "491520000, 31",
        "491520001, 0",
        "655360000, 0"
    })
    void shouldRoundAReceiverNotReadyTimerUp(long nanos, byte code) {
        assertThat(DurationCodes.receiverNotReadyTimer(Duration.ofNanos(nanos))).isEqualTo(code);
    }

    @ParameterizedTest
    @CsvSource({"1, 8192", "14, 67108864", "31, 8796093022208", "46, 67108864"})
    void shouldDecodeAnAcknowledgeTimeout(byte exponent, long nanos) {
        assertThat(DurationCodes.acknowledgeTimeout(exponent)).isEqualTo(Duration.ofNanos(nanos));
    }

    @ParameterizedTest
    @CsvSource({"0, 655360000", "1, 10000", "12, 640000", "31, 491520000", "-1, 491520000"})
    void shouldDecodeAReceiverNotReadyTimer(byte code, long nanos) {
        assertThat(DurationCodes.receiverNotReadyTimer(code)).isEqualTo(Duration.ofNanos(nanos));
    }

    @Test
    void shouldRejectInvalidDurationsAndEncodeLongOnesAsNoTimeout() {
        var forever = ChronoUnit.FOREVER.getDuration();
        assertThat(DurationCodes.acknowledgeTimeout(forever)).isZero();
        assertThat(DurationCodes.acknowledgeTimeout((byte) 0)).isEqualTo(forever);
        assertThat(DurationCodes.exponential(14)).isEqualTo(Duration.ofNanos(67_108_864));
        assertThat(DurationCodes.exponential(63)).isPositive();
        for (var invalid : new Duration[] {Duration.ZERO, Duration.ofNanos(-1)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RdmaChannelOptions.DEFAULT.acknowledgeTimeout(invalid))
                    .withMessageContaining("must be positive");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> DurationCodes.receiverNotReadyTimer(invalid));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> RdmaChannelOptions.DEFAULT.keepAlive(invalid))
                    .withMessage("The interval of the keep-alive must be positive: " + invalid);
        }
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> DurationCodes.receiverNotReadyTimer(Duration.ofNanos(655_360_001)))
                .withMessageContaining("at most 655.36 ms");
    }
}
