package org.jrdma.spark;

import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.LongSupplier;

/**
 * Limits a warning that may occur for each block to one per minute. Safe for use by multiple
 * threads.
 */
final class WarningLimiter {

    static final Duration INTERVAL = Duration.ofMinutes(1);

    private final LongSupplier nanoTime;

    // Guarded by this.
    private boolean hasLogged;
    private long lastLogged;
    private long suppressed;

    WarningLimiter() {
        this(System::nanoTime);
    }

    /**
     * @param nanoTime a clock such as {@link System#nanoTime()}
     */
    WarningLimiter(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /**
     * Returns the number of warnings that were suppressed since the last warning that was logged.
     * The caller then logs a warning.
     *
     * @return empty if the caller must suppress the warning
     */
    synchronized OptionalLong tryLog() {
        var now = nanoTime.getAsLong();
        if (hasLogged && now - lastLogged < INTERVAL.toNanos()) {
            suppressed++;
            return OptionalLong.empty();
        }
        var result = OptionalLong.of(suppressed);
        hasLogged = true;
        lastLogged = now;
        suppressed = 0;
        return result;
    }
}
