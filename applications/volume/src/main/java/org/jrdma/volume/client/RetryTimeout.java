package org.jrdma.volume.client;

import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * The time for which a client repeats an operation that fails. While the client is closed, this
 * time starts at the last operation that the coordinator has executed. When it has passed, all
 * later operations fail at once. Safe for use by multiple threads.
 */
final class RetryTimeout {

    private final Duration timeout;

    /** The deadline of the operations that start now; null before the client is closed. */
    private volatile @Nullable Deadline closing;

    RetryTimeout(Duration timeout) {
        this.timeout = timeout;
    }

    /** Returns the deadline of an operation that starts now. */
    Deadline deadline() {
        var common = closing;
        return common == null ? Deadline.after(timeout) : common;
    }

    /** Reports that the client is closed from now on. Has no effect the second time. */
    synchronized void startClosing() {
        closing = deadline();
    }

    /** Reports that the coordinator has executed an operation. */
    void succeeded() {
        if (closing != null) {
            closing = Deadline.after(timeout);
        }
    }
}
