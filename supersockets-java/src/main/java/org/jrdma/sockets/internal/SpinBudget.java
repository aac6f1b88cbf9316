package org.jrdma.sockets.internal;

/**
 * Determines for how long a thread spins before it sleeps, from its earlier waits.
 *
 * <ul>
 *   <li>The thread first spins for the full time, and continues to do so while its waits end before
 *       it sleeps.
 *   <li>From the second time in a row that the thread has slept in spite of spinning, the time is
 *       halved each time, but not below a small minimum. An idle stream then uses little processor
 *       time, and on a busy machine, the peer can run.
 *   <li>The full time is restored if a wait ends while the thread spins, and also after a number of
 *       short waits for which the thread has slept: the peer may sleep only because this thread
 *       does, and answer a spinning thread in time.
 * </ul>
 *
 * Used by one thread at a time.
 */
final class SpinBudget {

    /** The number of times that the full time is halved at most. */
    private static final int MAX_HALVINGS = 5;

    /** The duration below which a wait is short, divided by the full time. */
    private static final int SHORT_TO_FULL = 4;

    /** The number of short waits after which the full time is restored. */
    private static final int SHORT_WAITS = 32;

    private final long fullNanos;
    private int sleeps;
    private int shortWaits;

    /**
     * Creates a budget.
     *
     * @param fullNanos the full time in nanoseconds; 0 if the thread must not spin
     */
    SpinBudget(long fullNanos) {
        this.fullNanos = fullNanos;
    }

    /** Returns the time for which the thread spins now. */
    long nanos() {
        return fullNanos >> Math.clamp(sleeps - 1, 0, MAX_HALVINGS);
    }

    /**
     * Records the end of a wait.
     *
     * @param waitNanos the duration of the wait
     * @param slept true if the thread has slept after it had spun
     */
    void ended(long waitNanos, boolean slept) {
        if (slept && waitNanos < SHORT_TO_FULL * fullNanos) {
            shortWaits++;
        }
        if (!slept || shortWaits == SHORT_WAITS) {
            sleeps = 0;
            shortWaits = 0;
        } else if (sleeps <= MAX_HALVINGS) {
            sleeps++;
        }
    }
}
