package org.jrdma.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;

/**
 * How long to go on undoing something while the library answers that it is in use: by a peer that
 * is about to disconnect, say. Apart from the object that is closed, so that a forgotten one is
 * found.
 */
final class Patience {

    private static final long FIRST_PAUSE = 100_000;
    private static final long LONGEST_PAUSE = 10_000_000;

    private volatile Duration duration = Duration.ofSeconds(5);

    /** A function that undoes. */
    @FunctionalInterface
    interface Undo {
        void undo() throws SisciException;
    }

    void duration(Duration newDuration) {
        duration = newDuration;
    }

    /** An interrupt does not end it, and is kept for whoever comes next. */
    void undo(Undo undo) throws SisciException {
        var deadline = Deadline.after(duration);
        var interrupted = false;
        try {
            for (var pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
                try {
                    undo.undo();
                    return;
                } catch (SisciException e) {
                    if (!e.error().isBusy() || deadline.hasPassed()) {
                        throw e;
                    }
                }
                interrupted |= Thread.interrupted(); // it would turn the pause into a spin
                LockSupport.parkNanos(pause);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
