package org.jrdma.sisci.internal;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.model.SisciException;

/**
 * Removes an object, and retries until a deadline while the library reports that the object is
 * busy, for example because a peer is about to disconnect. If this fails, the close of the node
 * retries the removal again.
 *
 * <p>An instance does not refer to the API object, so that a leaked object can be detected.
 */
public final class RemovalRetry {

    private static final long FIRST_PAUSE_NANOS = 100_000;
    private static final long LONGEST_PAUSE_NANOS = 10_000_000;

    private final DeferredRemovals deferred;
    private volatile Duration timeout = Duration.ofSeconds(5);

    /** Creates an instance with a timeout of five seconds. */
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

    /**
     * Removes the object, with retries until the timeout expires. If this fails, defers the removal
     * until the node is closed.
     *
     * @throws SisciException if the removal was deferred
     */
    public void remove(Removal removal) throws SisciException {
        remove(start(), removal, removal);
    }

    /**
     * Removes the object, with retries until the deadline passes. If this fails, defers the removal
     * until the node is closed.
     *
     * @param forced the removal that is used if the object is still busy when the node is closed
     * @throws SisciException if the removal was deferred
     */
    public void remove(Deadline deadline, Removal removal, Removal forced) throws SisciException {
        try {
            retry(deadline, removal);
        } catch (SisciException e) {
            deferred.add(removal, forced);
            throw e;
        }
    }

    /**
     * Runs a removal, and retries it until the deadline while the library reports that the object
     * is busy. An interrupt does not end the retries; the interrupt status is restored afterwards.
     */
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
                // The interrupt status is cleared during the retries, because otherwise parkNanos
                // would return immediately.
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(pause);
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
