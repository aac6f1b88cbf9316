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
     * The first repetition follows after the full wait divided by 2 to this power. Each repetition
     * doubles the wait, so that a lost message is repeated early.
     */
    private static final int HALVINGS = 4;

    final ConnectionManager manager;

    /** The local ID, which is unique within the connection manager and hard to guess. */
    final int localId;

    /**
     * The local ID as an object. Because this object and the keys below exist already, the
     * connection manager can remove an exchange from its tables without allocating memory.
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

    /** Converts the exponent of a timeout to nanoseconds. */
    static long nanos(int exponent) {
        return UNIT_NANOS << exponent;
    }

    /**
     * Converts the exponent of a timeout that a peer has requested to nanoseconds. An exponent
     * above {@link #MAX_EXPONENT} is reduced to it, because the timeout could otherwise be hours.
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
     * Starts the timer for the first repetition of a message that was just sent.
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
     * Starts the timer for the repetition after the next one, which the caller must send now.
     * Returns false if all repetitions were used.
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
