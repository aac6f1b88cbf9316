package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests for how long the daemon thread of a port polls, with a simulated clock. */
class PollingBudgetTest {

    private final PollingBudget budget = new PollingBudget(2);
    private long now = 1_000_000_000;
    private long count;

    @BeforeEach
    void receiveAFirstPacket() {
        packet(budget, 0);
    }

    /** Simulates a packet that arrives after an interval. Returns true if polling follows. */
    private boolean packet(PollingBudget tested, long interval) {
        now += interval;
        count++;
        return tested.permitsPolling(count, now);
    }

    @Test
    void shouldPollAfterPacketsInShortIntervals() {
        assertThat(packet(budget, PollingBudget.MAX_NANOS)).isTrue();
        assertThat(budget.permitsPolling(count, now + PollingBudget.MAX_NANOS - 1)).isTrue();
        assertThat(budget.permitsPolling(count, now + PollingBudget.MAX_NANOS)).isFalse();
    }

    @Test
    void shouldNotPollWithoutPacketsOrAfterSinglePackets() {
        assertThat(budget.permitsPolling(count, now)).isFalse();
        for (var i = 0; i < 100; i++) {
            assertThat(packet(budget, PollingBudget.MAX_TRIED_NANOS + 1)).isFalse();
        }
    }

    /** The wake-up of the thread is part of an interval and may exceed the duration of polling. */
    @Test
    void shouldTryToPollIfTheIntervalMayBeDueToTheWakeUp() {
        assertThat(packet(budget, PollingBudget.MAX_TRIED_NANOS)).isTrue();
        assertThat(packet(budget, 5_000)).isTrue();
    }

    @Test
    void shouldTryLessOftenWhilePollingIsOfNoUse() {
        var polls = 0;
        for (var i = 0; i < 10_000; i++) {
            polls += packet(budget, PollingBudget.MAX_TRIED_NANOS) ? 1 : 0;
        }
        assertThat(polls).isBetween(1, 30);

        assertThat(packet(budget, PollingBudget.MAX_NANOS)).as("useful again").isTrue();
    }

    @Test
    void shouldNeverPollOnASingleProcessor() {
        assertThat(packet(new PollingBudget(1), 1)).isFalse();
    }
}
