package org.jrdma.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import org.junit.jupiter.api.Test;

class WorkQueueTableTest {

    private static final int GENERATIONS = 4096;

    private final CompletedRequestQueueLookup<PolledWorkQueueSlots> table =
            new CompletedRequestQueueLookup<>(CompletedRequestQueueLookup.ofShared());

    @Test
    void shouldFindEachQueueByItsRequestIds() {
        var queues = new ArrayList<PolledWorkQueueSlots>();
        for (var i = 0; i < 2_000; i++) {
            queues.add(addQueue());
        }

        var numbers = new HashSet<Long>();
        for (var queue : queues) {
            for (var position : new long[] {0, 1, 0xffff_ffffL, 0x1_0000_0005L}) {
                assertThat(table.find(queue.requestNumber(position))).isSameAs(queue);
                assertThat((int) queue.requestNumber(position)).isEqualTo((int) position);
                numbers.add(queue.requestNumber(position));
            }
        }
        assertThat(numbers).hasSize(8_000);
    }

    @Test
    void shouldFindNoQueueForACompletionOfAClosedQueue() {
        var queue = addQueue();
        var number = queue.requestNumber(7);

        table.remove(queue);

        assertThat(table.find(number)).isNull();
    }

    @Test
    void shouldNotAssignALateCompletionToANewQueue() {
        var closed = addQueue();
        var late = closed.requestNumber(7);
        table.remove(closed);

        var successor = addQueue();

        assertThat(late >>> 44)
                .as("index of the closed queue and of its successor")
                .isEqualTo(successor.requestNumber(7) >>> 44);
        assertThat(table.find(late)).isNull();
        assertThat(table.find(successor.requestNumber(7))).isSameAs(successor);
    }

    @Test
    void shouldReuseAnEntryWithADistinctNumberInEachGeneration() {
        var numbers = new HashSet<Long>();
        for (var generation = 0; generation < GENERATIONS; generation++) {
            var queue = addQueue();
            numbers.add(queue.requestNumber(0));
            table.remove(queue);
        }
        var late = numbers.stream().mapToLong(Long::longValue).max().orElseThrow();

        var next = addQueue();

        assertThat(numbers).hasSize(GENERATIONS).contains(next.requestNumber(0));
        assertThat(table.find(next.requestNumber(0))).isSameAs(next);
        assertThat(table.find(late)).isNull();
    }

    @Test
    void shouldReuseTheEntryThatWasFreeForLongest() {
        var first = addQueue();
        var second = addQueue();
        var firstPlace = first.requestNumber(0) >>> 44;
        table.remove(first);
        table.remove(second);

        assertThat(addQueue().requestNumber(0) >>> 44).isEqualTo(firstPlace);
    }

    @Test
    void shouldFindNoQueueForAnUnknownRequestId() {
        assertThat(table.find(0)).isNull();
        assertThat(table.find(-1)).isNull();

        var queue = addQueue();

        assertThat(table.find(queue.requestNumber(0) + (1L << 44))).isNull();
        assertThat(table.find(-1)).isNull();
    }

    private PolledWorkQueueSlots addQueue() {
        var queue = new PolledWorkQueueSlots(4);
        table.add(queue);
        return queue;
    }
}
