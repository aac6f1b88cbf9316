package org.jrdma.ffi;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waiting for what another thread is about to do, which takes microseconds. An interrupt does not
 * end it, and is kept for whoever comes next; left pending, it would turn every park into a spin,
 * and a virtual thread that spins keeps the other one from its carrier.
 */
final class ShortWait {

    private static final int SPINS = 1_000;
    private static final long PARK_NANOS = 20_000;

    private ShortWait() {}

    static void until(BooleanSupplier done) {
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
