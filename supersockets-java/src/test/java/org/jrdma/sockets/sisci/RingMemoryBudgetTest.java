package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RingMemoryBudgetTest {

    private static final int LARGEST = 2 * 1024 * 1024;
    private static final int SMALLEST = 128 * 1024;

    private final RingMemoryBudget capacities = new RingMemoryBudget();

    @Test
    void shouldUseTheRequestedNumberOfBytesRoundedUpToAPowerOfTwo() {
        assertThat(capacities.take(5_000)).isEqualTo(8_192);
    }

    @Test
    void shouldReduceTheRingsOfAProcessThatHasManyStreams() {
        assertThat(capacities.take(0)).isEqualTo(LARGEST);
        var total = 0L;
        var capacity = LARGEST;
        while (capacity > SMALLEST) {
            var next = capacities.take(0);
            assertThat(next).isLessThanOrEqualTo(capacity);
            capacity = next;
            total += capacity;
        }
        assertThat(total).isBetween(48L * 1024 * 1024, 64L * 1024 * 1024);
        assertThat(capacities.take(0)).isEqualTo(SMALLEST);
    }

    @Test
    void shouldUseReleasedMemoryForLargeRings() {
        capacities.release(capacities.take(1024 * 1024 * 1024));
        assertThat(capacities.take(0)).isEqualTo(LARGEST);
        var all = capacities.take(1024 * 1024 * 1024);
        assertThat(capacities.take(0)).isEqualTo(SMALLEST);
        capacities.release(all);
        assertThat(capacities.take(0)).isEqualTo(LARGEST);
    }
}
