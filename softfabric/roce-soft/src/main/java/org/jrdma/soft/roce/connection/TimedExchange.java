package org.jrdma.soft.roce.connection;

/** An exchange of messages with a peer. A timer repeats messages that the peer has not answered. */
abstract sealed class TimedExchange permits Connection, SidrClient, SidrServer {

    static final long NEVER = Long.MAX_VALUE;

    /**
     * The unit of all timeouts: 4.096 us. A timeout is represented by an exponent, and is a power
     * of two of this unit.
     */
    private static final long UNIT_NANOS = 4_096;

    /**
     * The limit for the exponent of a timeout that a peer requests: 69 seconds, as in the kernel.
     * Larger exponents are reduced to this limit.
     */
    private static final int MAX_EXPONENT = 24;

    /**
     * The first wait is the full wait halved this number of times, so that a lost message is
     * repeated early. Each wait is twice as long as the previous one until it reaches the full
     * wait.
     */
    private static final int HALVINGS = 4;

    final ConnectionManager manager;

    /**
     * The ID that this side has assigned to the exchange. It is unique within the connection
     * manager and hard to guess.
     */
    final int localId;

    private long deadline = NEVER;
    private int repeatsLeft;

    /** The number of times that the current wait is halved. */
    private int halvings;

    /** The maximum wait before a repetition, in nanoseconds. */
    private long fullWait;

    TimedExchange(ConnectionManager manager, int localId) {
        this.manager = manager;
        this.localId = localId;
    }

    /** Converts the exponent of a timeout to nanoseconds. */
    static long nanos(int exponent) {
        return UNIT_NANOS << exponent;
    }

    /**
     * Returns a timeout that a peer has requested, in nanoseconds. It is limited to 69 seconds,
     * because a peer can request hours.
     */
    static long nanosAtMost(int exponent) {
        return nanos(Math.min(exponent, MAX_EXPONENT));
    }

    long deadline() {
        return deadline;
    }

    /**
     * Starts the timer for the repetitions of a message.
     *
     * @param repeats the maximum number of repetitions
     * @param wait the maximum time before a repetition in nanoseconds
     */
    void repeat(int repeats, long wait) {
        repeatsLeft = repeats;
        halvings = HALVINGS;
        fullWait = wait;
        startTimer(wait >> halvings);
    }

    /**
     * Starts the timer again after it has expired. The caller then repeats the message.
     *
     * @return false if the maximum number of repetitions is reached
     */
    boolean startNextRepeat() {
        if (repeatsLeft == 0) {
            return false;
        }
        repeatsLeft--;
        halvings = Math.max(0, halvings - 1);
        startTimer(fullWait >> halvings);
        return true;
    }

    /**
     * Postpones the next repetition by the given time in nanoseconds, in addition to the full wait.
     */
    void postpone(long nanos) {
        startTimer(nanos + fullWait);
    }

    void startTimer(long nanos) {
        manager.schedule(this, manager.now() + nanos);
    }

    void cancelTimer() {
        manager.schedule(this, NEVER);
    }

    /**
     * Sets the deadline. Only the connection manager may call this method, because it orders the
     * exchanges by their deadlines.
     */
    void deadline(long newDeadline) {
        deadline = newDeadline;
    }

    /** Handles the expiry of the timer. */
    abstract void expired();
}
