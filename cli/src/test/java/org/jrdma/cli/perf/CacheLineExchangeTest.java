package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

class CacheLineExchangeTest {

    @Test
    void shouldTakeLongerThanACacheHit() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1);

        assertThat(CacheLineExchange.nanos()).isBetween(10L, 10_000_000L);
    }
}
