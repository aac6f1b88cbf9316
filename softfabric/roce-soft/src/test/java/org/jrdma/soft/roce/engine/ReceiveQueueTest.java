package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the order of receives, resizing and the limit of a receive queue. */
class ReceiveQueueTest {

    private final AtomicInteger limitReports = new AtomicInteger();
    private final ReceiveQueue queue =
            new ReceiveQueue(new ProtectionDomain(), 4, 2, limitReports::incrementAndGet);
    private final ReceiveWork taken = new ReceiveWork(2);
    private long posted;
    private long expected;

    private void post(int count) {
        for (var i = 0; i < count; i++) {
            queue.claim().begin(posted++).buffer(posted, 8, 1);
            queue.post();
        }
    }

    private void take(int count) {
        for (var i = 0; i < count; i++) {
            assertThat(queue.take(taken)).isTrue();
            assertThat(taken.id).isEqualTo(expected++);
            assertThat(taken.buffers.bytes()).isEqualTo(8);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 9", "3, 0, 9", "7, 4, 5", "7, 4, 100", "9, 2, 2", "9, 3, 3", "9, 1, 1"})
    void shouldKeepReceivesWhenItsSizeChanges(int before, int waiting, int capacity) {
        for (var i = 0; i < before; i++) {
            post(1);
            take(1);
        }
        post(waiting);

        assertThat(queue.resize(capacity)).isTrue();

        assertThat(queue.capacity()).isEqualTo(capacity);
        post(capacity - waiting);
        assertThat(queue.claim()).as("slot beyond the capacity").isNull();
        take(capacity);
        assertThat(queue.take(taken)).isFalse();
        post(capacity);
        take(capacity);
    }

    @Test
    void shouldRejectASizeBelowTheNumberOfReceives() {
        post(3);

        assertThat(queue.resize(2)).isFalse();

        assertThat(queue.capacity()).isEqualTo(4);
        post(1);
        take(4);
    }

    @Test
    void shouldReportTheLimitOnce() {
        post(4);
        queue.limit(3);

        take(1);
        assertThat(limitReports).hasValue(0);
        take(1);
        assertThat(limitReports).hasValue(1);
        assertThat(queue.limit()).isZero();
        take(2);
        assertThat(limitReports).hasValue(1);

        post(1);
        queue.limit(1);
        take(1);
        assertThat(limitReports).hasValue(2);
    }

    @Test
    void shouldReportNothingWithoutALimit() {
        post(4);
        queue.limit(4);
        queue.limit(0);

        take(4);

        assertThat(limitReports).hasValue(0);
    }
}
