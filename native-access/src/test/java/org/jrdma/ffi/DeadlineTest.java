package org.jrdma.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeadlineTest {

    @Test
    void shouldCountDownToTheDeadline() {
        var before = System.nanoTime();

        var deadline = Deadline.after(Duration.ofMinutes(1));

        var minute = TimeUnit.MINUTES.toNanos(1);
        assertThat(deadline.remainingNanos()).isPositive().isLessThanOrEqualTo(minute);
        assertThat(deadline.nanoTime() - before).isGreaterThanOrEqualTo(minute);
        assertThat(deadline.hasPassed()).isFalse();
    }

    @Test
    void shouldNeverPassIfNever() {
        assertThat(Deadline.NEVER.remainingNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(Deadline.NEVER.hasPassed()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE, Long.MAX_VALUE / 2_000_000_000L + 1})
    void shouldTreatAHugeDurationAsNever(long seconds) {
        assertThat(Deadline.after(Duration.ofSeconds(seconds))).isEqualTo(Deadline.NEVER);
    }

    @Test
    void shouldCountDownTheLongestFiniteDuration() {
        var deadline = Deadline.after(Duration.ofNanos(Long.MAX_VALUE / 2 - 1));

        assertThat(deadline).isNotEqualTo(Deadline.NEVER);
        assertThat(deadline.hasPassed()).isFalse();
        assertThat(deadline.remainingNanos()).isLessThan(Long.MAX_VALUE / 2);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE})
    void shouldHavePassedIfTheDurationIsNotPositive(long seconds) {
        var deadline = Deadline.after(Duration.ofSeconds(seconds));

        assertThat(deadline.hasPassed()).isTrue();
        assertThat(deadline.remainingNanos()).isNotPositive();
    }

    @Test
    void shouldReturnTheEarlierOfTwoDeadlines() {
        var soon = Deadline.after(Duration.ofSeconds(1));
        var late = Deadline.after(Duration.ofSeconds(9));

        assertThat(soon.earlier(late)).isSameAs(soon);
        assertThat(late.earlier(soon)).isSameAs(soon);
        assertThat(Deadline.NEVER.earlier(late)).isSameAs(late);
        assertThat(late.earlier(Deadline.NEVER)).isSameAs(late);
    }

    @ParameterizedTest
    @CsvSource({
        "PT1S, No answer within 1s",
        "PT0.25S, No answer within 0.25s",
        "PT2M30S, No answer within 2m30s",
        "PT4.868545154S, No answer within 4.868s",
        "PT0.000123456S, No answer within 0.000123456s",
        "PT0S, No answer within 0s",
        "PT-1S, No answer within -1s"
    })
    void shouldReportTheMissingEventAndTheTimeout(Duration duration, String message) {
        assertThat(Deadline.after(duration).missed("No answer")).hasMessage(message);
    }
}
