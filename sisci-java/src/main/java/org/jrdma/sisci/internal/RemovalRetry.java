package org.jrdma.sisci.internal;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.model.SisciException;

/**
 * Retries a removal until a deadline while the library reports the object as busy, for example
 * because a peer is about to disconnect. A removal that fails is deferred until the node is closed.
 *
 * <p>Does not refer to the API object, so that a leaked object can be detected.
 */
public final class RemovalRetry {

    private static final long FIRST_PAUSE_NANOS = 100_000;
    private static final long LONGEST_PAUSE_NANOS = 10_000_000;

    private final DeferredRemovals deferred;
    private volatile Duration timeout = Duration.ofSeconds(5);

    /** A retry with a timeout of five seconds. */
    public RemovalRetry(DeferredRemovals deferred) {
        this.deferred = deferred;
    }

    @FunctionalInterface
    public interface Removal {
        void remove() throws SisciException;
    }

    public void timeout(Duration newTimeout) {
        timeout = newTimeout;
    }

    public Deadline start() {
        return Deadline.after(timeout);
    }

    /** Removes the object, now or when the node is closed. */
    public void remove(Removal removal) throws SisciException {
        remove(start(), removal, removal);
    }

    /**
     * Removes the object, now or when the node is closed.
     *
     * @param forced the removal that is used if the object is still busy when the node is closed
     */
    public void remove(Deadline deadline, Removal removal, Removal forced) throws SisciException {
        try {
            retry(deadline, removal);
        } catch (SisciException e) {
            deferred.add(removal, forced);
            throw e;
        }
    }

    /** Retries until the deadline. An interrupt does not end the retries, and stays set. */
    public static void retry(Deadline deadline, Removal removal) throws SisciException {
        var interrupted = false;
        try {
            for (var pause = FIRST_PAUSE_NANOS;
                    ;
                    pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS)) {
                try {
                    removal.remove();
                    return;
                } catch (SisciException e) {
                    if (!e.error().isBusy() || deadline.hasPassed()) {
                        throw e;
                    }
                }
                interrupted |= Thread.interrupted(); // otherwise parkNanos would return immediately
                LockSupport.parkNanos(pause);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
