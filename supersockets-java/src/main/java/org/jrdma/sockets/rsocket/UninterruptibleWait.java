package org.jrdma.sockets.rsocket;

import java.util.function.BooleanSupplier;

/** Short waits that ignore interrupts. The interrupt status of the thread remains set. */
final class UninterruptibleWait {

    private UninterruptibleWait() {}

    /**
     * Waits until a condition is true. A thread that changes the condition must notify the monitor.
     *
     * @param condition evaluated while this thread holds the monitor
     */
    static void until(Object monitor, BooleanSupplier condition) {
        var interrupted = false;
        synchronized (monitor) {
            while (!condition.getAsBoolean()) {
                try {
                    monitor.wait();
                } catch (InterruptedException _) {
                    interrupted = true;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
