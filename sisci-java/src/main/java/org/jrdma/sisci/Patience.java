package org.jrdma.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;

/**
 * How long to go on undoing something while the library answers that it is in use: by a peer that
 * is about to disconnect, say. What could not be undone in that time is left to the node. Apart
 * from the object that is closed, so that a forgotten one is found.
 */
final class Patience {

    private static final long FIRST_PAUSE = 100_000;
    private static final long LONGEST_PAUSE = 10_000_000;

    private final Leftovers leftovers;
    private volatile Duration duration = Duration.ofSeconds(5);

    Patience(Leftovers leftovers) {
        this.leftovers = leftovers;
    }

    /** A function that undoes. */
    @FunctionalInterface
    interface Undo {
        void undo() throws SisciException;
    }

    void duration(Duration newDuration) {
        duration = newDuration;
    }

    /** When it ends that begins now. */
    Deadline begin() {
        return Deadline.after(duration);
    }

    /** Undoes, now or when the node is closed. */
    void undo(Undo undo) throws SisciException {
        undo(begin(), undo, undo);
    }

    /**
     * Undoes, now or when the node is closed.
     *
     * @param byForce how, when there is no other way
     */
    void undo(Deadline deadline, Undo undo, Undo byForce) throws SisciException {
        try {
            retry(deadline, undo);
        } catch (SisciException e) {
            leftovers.add(undo, byForce);
            throw e;
        }
    }

    /** An interrupt does not end it, and is kept for whoever comes next. */
    static void retry(Deadline deadline, Undo undo) throws SisciException {
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
