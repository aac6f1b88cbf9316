package org.jrdma.sockets.internal;

import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;

/**
 * Lets the thread that created it sleep until another thread wakes it up. Used for one wait for a
 * {@link ReadinessSource}.
 */
public interface ThreadParker {

    /**
     * Sleeps until {@link #wakeUp()} is called, the deadline passes, or the thread is interrupted;
     * the interrupt status remains set. Returns immediately if {@code wakeUp()} was called since
     * the last return. May return spuriously.
     */
    void park(Deadline deadline);

    /** Wakes up the thread. Called by any thread. */
    void wakeUp();

    /** Returns an object by which the current thread parks as in {@link LockSupport}. */
    static ThreadParker ofCurrentThread() {
        var thread = Thread.currentThread();
        return new ThreadParker() {
            @Override
            public void park(Deadline deadline) {
                ThreadParker.park(this, deadline);
            }

            @Override
            public void wakeUp() {
                LockSupport.unpark(thread);
            }
        };
    }

    /**
     * Parks the current thread until it is unparked or interrupted, or the deadline passes.
     *
     * @param blocker the object that the thread waits for, for diagnostics
     */
    static void park(Object blocker, Deadline deadline) {
        if (deadline.equals(Deadline.NEVER)) {
            LockSupport.park(blocker); // Calling parkNanos would set a timer for a virtual thread.
        } else {
            LockSupport.parkNanos(blocker, Math.max(0, deadline.remainingNanos()));
        }
    }
}
