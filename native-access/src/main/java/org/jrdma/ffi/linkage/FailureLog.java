package org.jrdma.ffi.linkage;

import org.slf4j.Logger;

/**
 * Logs failures where no exception may be thrown: in a service thread, which must continue, and in
 * a function that C calls.
 */
public final class FailureLog {

    private FailureLog() {}

    /**
     * Logs a failure as an error. Does nothing if logging fails, for example for lack of memory.
     */
    public static void error(Logger log, String message, Throwable failure) {
        try {
            log.error(message, failure);
        } catch (Throwable unlogged) {
            // the caller continues in any case
        }
    }
}
