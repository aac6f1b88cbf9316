package org.jrdma.sockets.rsocket;

import java.util.function.BooleanSupplier;

/** Waits that are short, and must not end early. An interrupt stays pending. */
final class UninterruptibleWait {

    private UninterruptibleWait() {}

    /** Waits in a monitor until a condition holds, whose change is notified there. */
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
