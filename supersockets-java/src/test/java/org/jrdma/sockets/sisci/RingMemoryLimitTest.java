package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RingMemoryLimitTest {

    private static final int LARGEST = 2 * 1024 * 1024;
    private static final int SMALLEST = 128 * 1024;

    private final RingMemoryLimit memory = new RingMemoryLimit();

    @Test
    void shouldUseTheRequestedNumberOfBytesRoundedUpToAPowerOfTwo() {
        assertThat(memory.take(5_000)).isEqualTo(8_192);
    }

    @Test
    void shouldReduceTheRingsOfAProcessThatHasManyStreams() {
        assertThat(memory.take(0)).isEqualTo(LARGEST);
        var total = 0L;
        var capacity = LARGEST;
        while (capacity > SMALLEST) {
            var next = memory.take(0);
            assertThat(next).isLessThanOrEqualTo(capacity);
            capacity = next;
            total += capacity;
        }
        assertThat(total).isBetween(48L * 1024 * 1024, 64L * 1024 * 1024);
        assertThat(memory.take(0)).isEqualTo(SMALLEST);
    }

    @Test
    void shouldUseReleasedMemoryForLargeRings() {
        memory.release(memory.take(1024 * 1024 * 1024));
        assertThat(memory.take(0)).isEqualTo(LARGEST);
        var all = memory.take(1024 * 1024 * 1024);
        assertThat(memory.take(0)).isEqualTo(SMALLEST);
        memory.release(all);
        assertThat(memory.take(0)).isEqualTo(LARGEST);
    }
}
