package org.jrdma.nvme;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits in a test until a condition holds, and fails the test after 60 seconds. */
final class TestWaits {

    private static final long TIMEOUT_NANOS = 60_000_000_000L;
    private static final long PAUSE_NANOS = 1_000_000;

    private TestWaits() {}

    static void await(BooleanSupplier condition) {
        var start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > TIMEOUT_NANOS) {
                throw new AssertionError("The condition did not hold within 60 seconds");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
