package org.jrdma.soft.roce.network;

/**
 * Observes the polling threads of the program, which drive the engine of a port. While they poll
 * continuously, the thread of the port need not drive it.
 */
final class PollingCallers {

    /**
     * After this number of polls, another thread is assumed to poll continuously, unless the last
     * poll was too long ago.
     */
    private static final int POLLS = 4;

    private static final long RECENT_POLL_NANOS = 250_000;

    private volatile boolean waiting;

    // The following fields are guarded by the lock of the port.

    /** The number of polls since a thread last waited for an event, up to {@link #POLLS}. */
    private int polls;

    private long lastPoll;

    /** Records that a thread polls. Requires the lock of the port. */
    void polled() {
        polls = waiting ? 1 : Math.min(polls + 1, POLLS);
        waiting = false;
    }

    /** Records the time of the poll. Requires the lock of the port. */
    void polledAt(long now) {
        lastPoll = now;
    }

    /** Records that a thread stops polling and waits for an event. */
    void startsWaiting() {
        waiting = true;
    }

    /** Returns true if a thread waits for an event, and no thread has polled since. */
    boolean isWaiting() {
        return waiting;
    }

    /** Returns true if threads poll continuously. Requires the lock of the port. */
    boolean pollContinuously(long now) {
        return polls == POLLS && !waiting && now - lastPoll < RECENT_POLL_NANOS;
    }
}
