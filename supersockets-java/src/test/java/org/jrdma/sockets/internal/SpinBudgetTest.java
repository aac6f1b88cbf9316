package org.jrdma.sockets.internal;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinBudgetTest {

    private static final long FULL = 100_000;
    private static final long MINIMUM = FULL / 32;
    private static final long WAKE_UP = 60_000;
    private static final int WAITS = 20_000;

    private final End first = new End();
    private final End second = new End();
    private long now;

    /** One end of a simulated ping-pong, whose thread waits at first. */
    private static final class End {

        private final SpinBudget budget = new SpinBudget(FULL, 256, 2);
        private long start;
        private int sleeps;

        /** Ends the wait because of a message that arrives now. Returns the time of the end. */
        private long receive(long now) {
            var slept = now - start > budget.nanos();
            sleeps += slept ? 1 : 0;
            var end = slept ? now + WAKE_UP : now;
            budget.ended(end - start, slept);
            return end;
        }
    }

    /**
     * Simulates messages between two ends, each of which answers after a time. Returns the number
     * of waits of both ends during which the thread has slept.
     */
    private int pingPong(long answerNanos) {
        var before = first.sleeps + second.sleeps;
        for (var i = 0; i < WAITS; i++) {
            for (var end : new End[] {first, second}) {
                now = end.receive(now) + answerNanos;
                end.start = now;
            }
        }
        return first.sleeps + second.sleeps - before;
    }

    @Test
    void shouldSpinForTheFullTimeWhileThePeerAnswersQuickly() {
        assertThat(pingPong(1_000)).isZero();
        assertThat(first.budget.nanos()).isEqualTo(FULL);
    }

    @Test
    void shouldSpinForTheMinimumIfThePeerAnswersSlowly() {
        pingPong(1_000_000);

        assertThat(first.budget.nanos()).isEqualTo(MINIMUM);
        assertThat(second.budget.nanos()).isEqualTo(MINIMUM);
    }

    @Test
    void shouldSpinAgainAfterBothEndsWereSlow() {
        pingPong(1_000_000);

        assertThat(pingPong(1_000)).isLessThan(3_000);
        assertThat(first.budget.nanos()).isEqualTo(FULL);
        assertThat(second.budget.nanos()).isEqualTo(FULL);
    }

    /** On a busy machine, the peer runs only while this thread sleeps. */
    @Test
    void shouldSpinBrieflyOnAverageIfThePeerCannotAnswerASpinningThread() {
        var spun = 0L;
        for (var i = 0; i < WAITS; i++) {
            spun += first.budget.nanos();
            first.budget.ended(first.budget.nanos() + 10_000, true);
        }

        assertThat(spun / WAITS).isLessThan(FULL / 8);
    }

    @Test
    void shouldSpinBrieflyIfFewWaitsEndInTime() {
        for (var i = 0; i < WAITS; i++) {
            first.budget.ended(1_000_000, i % 100 > 0);
        }

        assertThat(first.budget.nanos()).isLessThan(FULL);
    }

    @Test
    void shouldNeverSpinOnASingleProcessor() {
        assertThat(new SpinBudget(FULL, 256, 1).nanos()).isZero();
    }

    @Test
    void shouldNeverSpinIfTheFullTimeIsZero() {
        var none = new SpinBudget(0, 256, 2);
        for (var slept : new boolean[] {true, false}) {
            none.ended(1, slept);

            assertThat(none.nanos()).isZero();
        }
    }
}
