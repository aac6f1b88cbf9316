package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PeerAvoidanceTest {

    private long now = Long.MAX_VALUE - 7; // The clock may overflow.
    private final PeerAvoidance avoidance = new PeerAvoidance(() -> now);

    private void shouldAvoidFor(Duration length) {
        now += length.toNanos() - 1;
        assertThat(avoidance.isAvoided("2")).isTrue();
        now++;
        assertThat(avoidance.isAvoided("2")).isFalse();
    }

    @Test
    void shouldAvoidOnlyTheExecutorThatFailed() {
        assertThat(avoidance.isAvoided("2")).isFalse();
        assertThat(avoidance.hasFailed("2")).isFalse();

        avoidance.avoid("2");

        assertThat(avoidance.isAvoided("2")).isTrue();
        assertThat(avoidance.hasFailed("2")).isTrue();
        assertThat(avoidance.isAvoided("3")).isFalse();
        assertThat(avoidance.hasFailed("3")).isFalse();
    }

    @Test
    void shouldAvoidAnExecutorForTwiceAsLongEachTimeItFails() {
        for (var seconds : new int[] {30, 60, 120, 240, 480, 600, 600}) {
            avoidance.avoid("2");

            shouldAvoidFor(Duration.ofSeconds(seconds));
            assertThat(avoidance.hasFailed("2")).isTrue();
        }
    }

    @Test
    void shouldForgetEarlierFailuresAfterASuccess() {
        avoidance.avoid("2");
        avoidance.avoid("2");

        avoidance.succeeded("2");

        assertThat(avoidance.isAvoided("2")).isFalse();
        assertThat(avoidance.hasFailed("2")).isFalse();
        avoidance.avoid("2");
        shouldAvoidFor(PeerAvoidance.FIRST);
    }

    @Test
    void shouldAvoidAnExecutorPermanentlyOnlyOnce() {
        assertThat(avoidance.avoidPermanently("2")).isTrue();
        assertThat(avoidance.avoidPermanently("2")).isFalse();

        now += PeerAvoidance.LONGEST.toNanos();
        assertThat(avoidance.isAvoided("2")).isTrue();
        assertThat(avoidance.isAvoided("3")).isFalse();
    }
}
