package org.jrdma.soft.roce.connection;

/** An exchange of messages with a peer that has a timer and repeats unanswered messages. */
abstract sealed class TimedExchange permits Connection, SidrClient, SidrServer {

    static final long NEVER = Long.MAX_VALUE;

    /** The unit of all timeouts, each of which is a power of two of it. */
    private static final long UNIT_NANOS = 4_096;

    /** The maximum exponent: 69 seconds, as in the kernel. */
    private static final int MAX_EXPONENT = 24;

    /**
     * The number of times that the first wait is halved, so that a lost message is repeated early.
     */
    private static final int HALVINGS = 4;

    final ConnectionManager manager;

    /** The local ID: unique within the connection manager, and hard to guess. */
    final int localId;

    private long deadline = NEVER;
    private int repeatsLeft;
    private int halvings;
    private long fullWait;

    TimedExchange(ConnectionManager manager, int localId) {
        this.manager = manager;
        this.localId = localId;
    }

    static long nanos(int exponent) {
        return UNIT_NANOS << exponent;
    }

    /** Returns the timeout that a peer has requested, limited because it might be hours. */
    static long nanosAtMost(int exponent) {
        return nanos(Math.min(exponent, MAX_EXPONENT));
    }

    long deadline() {
        return deadline;
    }

    /** Starts to repeat a message, with at most {@code wait} between repetitions. */
    void repeat(int repeats, long wait) {
        repeatsLeft = repeats;
        halvings = HALVINGS;
        fullWait = wait;
        startTimer(wait >> halvings);
    }

    /** Starts the wait for the next repetition. Returns false if none is left. */
    boolean startNextRepeat() {
        if (repeatsLeft == 0) {
            return false;
        }
        repeatsLeft--;
        halvings = Math.max(0, halvings - 1);
        startTimer(fullWait >> halvings);
        return true;
    }

    /** Postpones the next repetition. */
    void postpone(long nanos) {
        startTimer(nanos + fullWait);
    }

    void startTimer(long nanos) {
        manager.schedule(this, manager.now() + nanos);
    }

    void cancelTimer() {
        manager.schedule(this, NEVER);
    }

    /** Sets the deadline. For the connection manager, which orders exchanges by it. */
    void deadline(long newDeadline) {
        deadline = newDeadline;
    }

    /** Handles the expiry of the timer. */
    abstract void expired();
}
