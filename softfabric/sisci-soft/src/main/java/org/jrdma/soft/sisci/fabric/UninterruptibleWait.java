package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Waits on a monitor. Interrupting the thread does not end the wait, because functions of SISCI
 * cannot be interrupted.
 */
final class UninterruptibleWait {

    private UninterruptibleWait() {}

    /** Waits until a condition holds or the timeout expires. The caller must hold the monitor. */
    static void until(Object monitor, long nanos, BooleanSupplier condition) {
        var start = System.nanoTime();
        var interrupted = false;
        while (!condition.getAsBoolean()) {
            var left = nanos - (System.nanoTime() - start);
            if (left <= 0) {
                break;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(monitor, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Converts a SISCI timeout to nanoseconds. */
    static long nanos(int milliseconds) {
        return milliseconds == SCI_INFINITE_TIMEOUT()
                ? Long.MAX_VALUE
                : TimeUnit.MILLISECONDS.toNanos(Integer.toUnsignedLong(milliseconds));
    }
}
