package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.InterruptedIOException;

/** Waits for a condition by polling it. */
final class SpinWait {

    private static final int BUSY_SPINS = 500;
    private static final int SPINS_PER_CLOCK_CHECK = 4096;

    @FunctionalInterface
    interface Condition {
        boolean holds() throws IOException;
    }

    private SpinWait() {}

    static void checkNotInterrupted() throws InterruptedIOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("The measurement was interrupted.");
        }
    }

    /**
     * Polls until a condition holds.
     *
     * @throws IOException if the condition throws it, or does not hold within about {@link
     *     ControlChannel#TIMEOUT}, or the thread is interrupted
     */
    // The thread yields because there may be few processors.
    @SuppressWarnings("ThreadPriorityCheck")
    static void until(Condition condition) throws IOException {
        var end = 0L;
        for (var spins = 1; !condition.holds(); spins++) {
            if (spins < BUSY_SPINS) {
                Thread.onSpinWait();
                continue;
            }
            Thread.yield();
            if (spins % SPINS_PER_CLOCK_CHECK == 0) {
                checkNotInterrupted();
                var now = System.nanoTime();
                if (end == 0) {
                    end = now + ControlChannel.TIMEOUT.toNanos();
                } else if (now - end > 0) {
                    throw new IOException(
                            "The peer did not respond within %d s."
                                    .formatted(ControlChannel.TIMEOUT.toSeconds()));
                }
            }
        }
    }
}
