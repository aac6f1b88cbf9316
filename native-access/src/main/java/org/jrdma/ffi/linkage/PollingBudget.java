package org.jrdma.ffi.linkage;

/**
 * Decides how long a thread that serves events polls after an event, before it waits in the kernel.
 *
 * <p>Waking up a thread takes several times as long as a round trip between polling threads. A
 * thread that waited in the kernel for each event would delay its answer. Polling is only useful if
 * the next event comes soon, so the thread polls only after an event, for a limited time, and less
 * and less often while no event comes in that time. A thread without events never polls.
 *
 * <p>Confined to one thread at a time.
 */
public final class PollingBudget {

    /** The maximum duration of polling after an event. */
    static final long MAX_NANOS = 100_000;

    /**
     * The maximum interval between two events after which polling is tried. Greater than {@link
     * #MAX_NANOS}, because an interval includes the wake-up of this thread that polling would
     * avoid.
     */
    static final long MAX_TRIED_NANOS = 200_000;

    /** The maximum number of events between two attempts to poll is two to this power. */
    private static final int MAX_FAILURES = 10;

    /** The number of polls after which another thread may use the processor. */
    private static final int POLLS_BETWEEN_YIELDS = 8;

    private final boolean enabled;

    private long lastCount;
    private long lastEvent;

    /** The duration of polling after the last event: 0 or {@link #MAX_NANOS}. */
    private long budget;

    /** The number of consecutive attempts to poll in which no event arrived. */
    private int failures;

    /** The number of events until the next attempt to poll. */
    private int skipped;

    private int polls;

    /**
     * @param processors the number of processors. With a single processor, a polling thread would
     *     only delay the others
     */
    PollingBudget(int processors) {
        enabled = processors > 1;
    }

    /** Creates a budget for a thread of this process. */
    public static PollingBudget ofThisProcess() {
        return new PollingBudget(Runtime.getRuntime().availableProcessors());
    }

    /**
     * Returns true if the thread should poll again; false if it should wait in the kernel.
     *
     * @param count the number of events so far
     * @param now the current time in nanoseconds
     */
    public boolean permitsPolling(long count, long now) {
        if (count != lastCount) {
            lastCount = count;
            eventArrived(now - lastEvent);
            lastEvent = now;
        }
        return enabled && now - lastEvent < budget;
    }

    private void eventArrived(long interval) {
        if (interval <= MAX_NANOS) {
            failures = 0;
            skipped = 0;
            budget = MAX_NANOS;
        } else if (budget > 0) {
            failures = Math.min(MAX_FAILURES, failures + 1);
            skipped = 1 << failures;
            budget = 0;
        } else if (skipped > 0) {
            skipped--;
        } else if (interval <= MAX_TRIED_NANOS) {
            budget = MAX_NANOS;
        }
    }

    /** Pauses between two polls like {@link #pause(int)}. */
    public void pause() {
        pause(polls);
        polls++;
    }

    /**
     * Pauses between two polls. Every few polls, another thread may use the processor, so that
     * polling does not delay the threads of a busy machine.
     *
     * @param polls the number of previous pauses
     */
    @SuppressWarnings("ThreadPriorityCheck")
    public static void pause(int polls) {
        if ((polls + 1) % POLLS_BETWEEN_YIELDS == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }
}
