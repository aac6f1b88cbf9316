package org.jrdma.ffi.guard;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for a condition that another thread makes true within microseconds. An interrupt does not
 * end the wait. The interrupt status is cleared during the wait and restored afterwards, because a
 * set status would make each park return immediately: the thread would spin, and a virtual thread
 * would occupy its carrier.
 */
public final class ShortWait {

    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private ShortWait() {}

    /**
     * Waits until the condition is true: checks 1,000 times while spinning, then parks for 20
     * microseconds before each check.
     */
    public static void until(BooleanSupplier done) {
        var interrupted = false;
        for (var spins = 0; !done.getAsBoolean(); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(PARK_NANOS);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
