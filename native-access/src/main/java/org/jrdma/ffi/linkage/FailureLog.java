package org.jrdma.ffi.linkage;

import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;

/**
 * Logs failures of code that must not throw an exception: service threads, which must continue, and
 * functions that C calls.
 */
public final class FailureLog {

    private static final long PAUSE_NANOS = 10_000_000;

    private FailureLog() {}

    /**
     * Logs a failure as an error. Does nothing if logging fails, for example for lack of memory.
     */
    public static void error(Logger log, String message, Throwable failure) {
        try {
            log.error(message, failure);
        } catch (Throwable unlogged) {
            // Logging has failed; the caller continues in any case.
        }
    }

    /**
     * Logs a failure like {@link #error}, and pauses the thread for 10 ms. Called before a service
     * thread repeats the failed operation, so that it does not occupy a processor while memory is
     * exhausted. A virtual thread only yields, because it would never continue if the JDK had no
     * memory for the timer that ends its pause.
     */
    @SuppressWarnings("ThreadPriorityCheck")
    public static void errorAndPause(Logger log, String message, Throwable failure) {
        error(log, message, failure);
        if (Thread.currentThread().isVirtual()) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }
}
