package org.jrdma.sockets.internal;

/**
 * Determines for how long a thread spins before it sleeps, from its earlier waits.
 *
 * <ul>
 *   <li>The thread spins for the full time while most of its waits end before it sleeps.
 *   <li>If it has slept a number of times in spite of spinning, the time is halved each time, but
 *       not below a small minimum. An idle stream then uses little processor time, and on a busy
 *       machine, the peer can run.
 *   <li>After a number of short waits for which the thread has slept, it tries the full time again:
 *       the peer may sleep only because this thread does, and answer a spinning thread in time.
 *       Each attempt that fails doubles the number of waits until the next one.
 * </ul>
 *
 * <p>For two platform threads, an attempt should take some ten milliseconds, because a thread that
 * was woken up is often placed on the processor of the thread that has woken it up. The scheduler
 * moves one of them to another processor only if both are ready to run for some time.
 *
 * <p>Used by one thread at a time.
 */
final class SpinBudget {

    /** The number of sleeps of an attempt for which one wait without a sleep compensates. */
    private static final int SLEEPS_PER_SUCCESS = 32;

    /** The number of times that the full time is halved at most. */
    private static final int MAX_HALVINGS = 5;

    /** The duration below which a wait is short, divided by the full time. */
    private static final int SHORT_TO_FULL = 4;

    /** The number of short waits between the first two attempts. */
    private static final int FIRST_PAUSE = 1_024;

    private static final int MAX_PAUSE = 1 << 16;

    private final long fullNanos;
    private final int attemptSleeps;
    private int sleeps;
    private int shortWaits;
    private int pause = FIRST_PAUSE;

    /**
     * Creates a budget. With a single processor, a thread that spins would only delay its peer, so
     * the full time is 0.
     *
     * @param fullNanos the full time in nanoseconds; 0 if the thread must not spin
     * @param attemptSleeps the number of times that the thread sleeps before the time is halved
     */
    SpinBudget(long fullNanos, int attemptSleeps) {
        this(fullNanos, attemptSleeps, Runtime.getRuntime().availableProcessors());
    }

    SpinBudget(long fullNanos, int attemptSleeps, int processors) {
        this.fullNanos = processors > 1 ? fullNanos : 0;
        this.attemptSleeps = attemptSleeps;
    }

    /** Returns the time for which the thread spins now. */
    long nanos() {
        return fullNanos >> Math.max(0, sleeps - attemptSleeps);
    }

    /**
     * Records the end of a wait.
     *
     * @param waitNanos the duration of the wait
     * @param slept true if the thread has slept after it had spun
     */
    void ended(long waitNanos, boolean slept) {
        if (!slept) {
            sleeps = Math.max(0, sleeps - SLEEPS_PER_SUCCESS);
            shortWaits = 0;
            pause = FIRST_PAUSE;
            return;
        }
        if (sleeps < attemptSleeps + MAX_HALVINGS) {
            sleeps++;
        } else if (waitNanos < SHORT_TO_FULL * fullNanos) {
            shortWaits++;
            if (shortWaits == pause) {
                sleeps = 0;
                shortWaits = 0;
                pause = Math.min(2 * pause, MAX_PAUSE);
            }
        }
    }
}
