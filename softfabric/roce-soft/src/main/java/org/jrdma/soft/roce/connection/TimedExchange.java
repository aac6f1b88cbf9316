package org.jrdma.soft.roce.connection;

import org.jspecify.annotations.Nullable;

/**
 * An exchange of messages with a peer, such as a connection or a SIDR request. It has a timer, and
 * repeats messages that the peer does not answer.
 */
abstract sealed class TimedExchange permits Connection, SidrClient, SidrServer {

    static final long NEVER = Long.MAX_VALUE;

    /** The unit of timeouts: each timeout is this unit times a power of two. */
    private static final long UNIT_NANOS = 4_096;

    /**
     * The maximum exponent that is accepted from a peer, which means 69 seconds. The kernel has the
     * same limit.
     */
    private static final int MAX_EXPONENT = 24;

    /**
     * The number of times that the wait before the first repetition is halved. Each repetition
     * undoes one halving. A lost message is therefore repeated early.
     */
    private static final int HALVINGS = 4;

    final ConnectionManager manager;

    /** The local ID, which is unique within the connection manager and hard to guess. */
    final int localId;

    /**
     * The local ID as an object. With this and the following keys, the connection manager can
     * forget an exchange without allocating memory.
     */
    final Integer localKey;

    /** The key of this exchange in the table of remote IDs; null until the remote ID is known. */
    @Nullable Object peerKey;

    private long deadline = NEVER;
    private int repeatsLeft;
    private int halvings;
    private long fullWait;

    TimedExchange(ConnectionManager manager, int localId) {
        this.manager = manager;
        this.localId = localId;
        this.localKey = localId;
    }

    /** Returns a timeout in nanoseconds. */
    static long nanos(int exponent) {
        return UNIT_NANOS << exponent;
    }

    /**
     * Returns a timeout that a peer has requested, in nanoseconds. Larger exponents than {@link
     * #MAX_EXPONENT} are reduced, because they might mean hours.
     */
    static long nanosAtMost(int exponent) {
        return nanos(Math.min(exponent, MAX_EXPONENT));
    }

    /**
     * Returns the time in nanoseconds within which an answer must arrive: the response timeout and
     * two packet lifetimes.
     *
     * @param maxTimeout the maximum response timeout, because the peer may have chosen it
     */
    static long responseWait(int responseTimeout, int maxTimeout) {
        return nanos(Math.min(responseTimeout, maxTimeout)) + 2 * nanos(Connection.PACKET_LIFETIME);
    }

    long deadline() {
        return deadline;
    }

    /**
     * Starts the wait before the first repetition of a message that was sent.
     *
     * @param repeats the maximum number of repetitions
     * @param wait the maximum time between two repetitions in nanoseconds
     */
    void repeat(int repeats, long wait) {
        repeatsLeft = repeats;
        halvings = HALVINGS;
        fullWait = wait;
        startTimer(wait >> halvings);
    }

    /**
     * Starts the wait that follows the next repetition, which the caller must send. Returns false
     * if no repetition is left.
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
     * Postpones the next repetition because the peer needs more time.
     *
     * @param nanos the time that the peer has requested in nanoseconds
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
     * Sets the deadline. Called only by the connection manager, which orders exchanges by deadline.
     */
    void deadline(long newDeadline) {
        deadline = newDeadline;
    }

    /**
     * Handles the expiry of the timer. If this method throws because there is too little memory, it
     * is called again later, so it must not have changed the state.
     */
    abstract void expired();
}
