package org.jrdma.soft.roce.connection;

/** An exchange of messages with a peer that has a timer and repeats unanswered messages. */
abstract sealed class TimedExchange permits Connection, SidrClient, SidrServer {

    static final long NEVER = Long.MAX_VALUE;

    /** The unit of all timeouts, which are powers of two of it. */
    private static final long UNIT_NANOS = 4_096;

    /** 69 seconds, which is what the kernel has for its programs. */
    private static final int LONGEST = 24;

    /** How often the first wait is halved, so that a lost message is repeated early. */
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

    /** A timeout that a peer has requested, limited because it might be hours. */
    static long nanosAtMost(int exponent) {
        return nanos(Math.min(exponent, LONGEST));
    }

    long deadline() {
        return deadline;
    }

    /** Starts to repeat a message, with at most {@code wait} between repetitions. */
    void repeat(int repeats, long wait) {
        repeatsLeft = repeats;
        halvings = HALVINGS;
        fullWait = wait;
        wakeIn(wait >> halvings);
    }

    /** Whether another repetition is due. Starts the wait for the next one. */
    boolean repeatsAgain() {
        if (repeatsLeft == 0) {
            return false;
        }
        repeatsLeft--;
        halvings = Math.max(0, halvings - 1);
        wakeIn(fullWait >> halvings);
        return true;
    }

    /** Postpones the next repetition. */
    void putOff(long nanos) {
        wakeIn(nanos + fullWait);
    }

    void wakeIn(long nanos) {
        manager.schedule(this, manager.now() + nanos);
    }

    void wakeNoMore() {
        manager.schedule(this, NEVER);
    }

    /** Sets the deadline. For the connection manager, which orders exchanges by it. */
    void deadline(long moment) {
        deadline = moment;
    }

    /** Handles the expiry of the timer. */
    abstract void expired();
}
