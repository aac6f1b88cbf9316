package org.jrdma.nvme;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits in a test until a condition holds, and fails the test after a timeout. */
final class TestWaits {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long PAUSE_NANOS = 1_000_000;

    private TestWaits() {}

    static void await(BooleanSupplier condition) {
        await(condition, TIMEOUT);
    }

    static void await(BooleanSupplier condition, Duration timeout) {
        var start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > timeout.toNanos()) {
                throw new AssertionError("The condition did not hold within " + timeout);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
