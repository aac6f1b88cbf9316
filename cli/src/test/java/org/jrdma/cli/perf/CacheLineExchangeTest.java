package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CacheLineExchangeTest {

    @Test
    void shouldTakeLongerThanACacheHit() {
        assumeTrue(Runtime.getRuntime().availableProcessors() > 1);

        assertThat(CacheLineExchange.nanos()).isBetween(10L, 10_000_000L);
    }

    @ParameterizedTest
    @CsvSource({
        "92, 92, true",
        "92, 184, true",
        "92, 185, false",
        "400, 92, false",
        "2000, 1000, true",
        "2001, 2001, false",
        "0, 0, true"
    })
    void shouldDetectThatTheMachineHasChanged(long before, long after, boolean steady) {
        assertThat(CacheLineExchange.isSteady(before, after)).isEqualTo(steady);
    }
}
