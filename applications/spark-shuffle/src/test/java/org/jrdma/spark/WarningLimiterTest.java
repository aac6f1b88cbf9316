package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class WarningLimiterTest {

    // Clocks may start with any value.
    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
    private final WarningLimiter limiter = new WarningLimiter(nanos::get);

    @Test
    void shouldAllowTheFirstWarning() {
        assertThat(limiter.tryLog()).hasValue(0);
    }

    @Test
    void shouldAllowOneWarningPerIntervalAndCountTheOthers() {
        limiter.tryLog();
        nanos.addAndGet(WarningLimiter.INTERVAL.toNanos() - 1);
        assertThat(limiter.tryLog()).isEmpty();
        assertThat(limiter.tryLog()).isEmpty();

        nanos.addAndGet(1);
        assertThat(limiter.tryLog()).hasValue(2);
        assertThat(limiter.tryLog()).isEmpty();

        nanos.addAndGet(WarningLimiter.INTERVAL.toNanos());
        assertThat(limiter.tryLog()).hasValue(1);
    }
}
