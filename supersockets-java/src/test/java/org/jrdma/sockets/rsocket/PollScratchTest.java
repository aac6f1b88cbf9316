package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.jrdma.sockets.internal.Scratch;
import org.junit.jupiter.api.Test;

class PollScratchTest {

    /**
     * A write from heap memory holds a Scratch while it takes a PollScratch, whose memory must be
     * reused even then. Other threads may use the same cache slots, so the test needs several
     * attempts.
     */
    @Test
    void shouldReuseMemoryForAThreadThatHoldsAScratch() {
        for (var attempt = 0; attempt < 100; attempt++) {
            var before = nested();
            var after = nested();
            if (before.equals(after)) {
                return;
            }
        }
        assertThat(false).as("memory was reused").isTrue();
    }

    private record Memory(MemorySegment bytes, MemorySegment one) {}

    private static Memory nested() {
        try (var outer = Scratch.take();
                var inner = PollScratch.take()) {
            return new Memory(outer.bytes(), inner.one());
        }
    }
}
