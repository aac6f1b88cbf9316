package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests for how long a thread parks while it waits for a message or for space. */
class MessageRingTest {

    private static final int SPINS = 1_000;
    private static final long FIRST_PAUSE_NANOS = 50_000;
    private static final long MAX_PAUSE_NANOS = 5_000_000;

    @Test
    void shouldDelayAMessageByASmallPartOfTheTimeWithoutMessages() {
        var waited = 0L;
        for (var attempts = SPINS; attempts < 20_000; attempts++) {
            var pause = MessageRing.pauseNanos(attempts);
            assertThat(pause).isBetween(FIRST_PAUSE_NANOS, FIRST_PAUSE_NANOS + waited / 16);
            waited += pause;
        }
    }

    @Test
    void shouldWakeUpRarelyAfterSecondsWithoutMessages() {
        assertThat(MessageRing.pauseNanos(10_000)).isEqualTo(MAX_PAUSE_NANOS);
        assertThat(MessageRing.pauseNanos(Integer.MAX_VALUE)).isEqualTo(MAX_PAUSE_NANOS);
    }
}
