package org.jrdma.ffi.linkage;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests for how long a thread polls after an event, with a simulated clock. */
class PollingBudgetTest {

    private final PollingBudget budget = new PollingBudget(2);
    private long now = 1_000_000_000;
    private long count;

    @BeforeEach
    void receiveAFirstEvent() {
        event(budget, 0);
    }

    /** Simulates an event that arrives after an interval. Returns true if polling follows. */
    private boolean event(PollingBudget tested, long interval) {
        now += interval;
        count++;
        return tested.permitsPolling(count, now);
    }

    @Test
    void shouldPollAfterEventsInShortIntervals() {
        assertThat(event(budget, PollingBudget.MAX_NANOS)).isTrue();
        assertThat(budget.permitsPolling(count, now + PollingBudget.MAX_NANOS - 1)).isTrue();
        assertThat(budget.permitsPolling(count, now + PollingBudget.MAX_NANOS)).isFalse();
    }

    @Test
    void shouldNotPollWithoutEventsOrAfterSingleEvents() {
        assertThat(budget.permitsPolling(count, now)).isFalse();
        for (var i = 0; i < 100; i++) {
            assertThat(event(budget, PollingBudget.MAX_TRIED_NANOS + 1)).isFalse();
        }
    }

    /** The wake-up of the thread is part of an interval and may exceed the duration of polling. */
    @Test
    void shouldTryToPollIfTheIntervalMayBeDueToTheWakeUp() {
        assertThat(event(budget, PollingBudget.MAX_TRIED_NANOS)).isTrue();
        assertThat(event(budget, 5_000)).isTrue();
    }

    @Test
    void shouldTryLessOftenWhilePollingIsOfNoUse() {
        var polls = 0;
        for (var i = 0; i < 10_000; i++) {
            polls += event(budget, PollingBudget.MAX_TRIED_NANOS) ? 1 : 0;
        }
        assertThat(polls).isBetween(1, 30);

        assertThat(event(budget, PollingBudget.MAX_NANOS)).as("useful again").isTrue();
    }

    @Test
    void shouldNeverPollOnASingleProcessor() {
        assertThat(event(new PollingBudget(1), 1)).isFalse();
    }
}
