package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ComputeLoopTest {

    /** The loop has more than 40,000 operations, of which a processor executes some per cycle. */
    @Test
    void shouldTakeAsLongAsItsOperations() {
        ComputeLoop.nanos();

        assertThat(ComputeLoop.nanos()).isBetween(1_000L, 10_000_000L);
    }
}
