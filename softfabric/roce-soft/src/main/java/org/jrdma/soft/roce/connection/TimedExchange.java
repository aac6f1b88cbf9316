package org.jrdma.soft.roce.connection;

/** What has something to do at a moment. */
abstract sealed class TimedExchange permits Connection, SidrClient, SidrServer {

    static final long NEVER = Long.MAX_VALUE;

    /** The unit of all timeouts, which are powers of two of it. */
    private static final long UNIT_NANOS = 4_096;

    /** 69 seconds, which is what the kernel has for its programs. */
    private static final int LONGEST = 24;

    /** How often a wait is halved at first: what gets lost does so at once, not after seconds. */
    private static final int HALVINGS = 4;

    final ConnectionManager manager;

    /** Its number here: unlike all others of the engine, and hard to guess. */
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

    /** Of what a peer says: it might be hours, and keep a connection for days. */
    static long nanosAtMost(int exponent) {
        return nanos(Math.min(exponent, LONGEST));
    }

    long deadline() {
        return deadline;
    }

    /** Begins to repeat something, at the latest each {@code wait}. */
    void repeat(int repeats, long wait) {
        repeatsLeft = repeats;
        halvings = HALVINGS;
        fullWait = wait;
        wakeIn(wait >> halvings);
    }

    /** Whether there is another time; the wait for it has begun then. */
    boolean repeatsAgain() {
        if (repeatsLeft == 0) {
            return false;
        }
        repeatsLeft--;
        halvings = Math.max(0, halvings - 1);
        wakeIn(fullWait >> halvings);
        return true;
    }

    /** Puts the next time off. */
    void putOff(long nanos) {
        wakeIn(nanos + fullWait);
    }

    void wakeIn(long nanos) {
        manager.schedule(this, manager.now() + nanos);
    }

    void wakeNoMore() {
        manager.schedule(this, NEVER);
    }

    /** Only the engine's, which keeps them in this order. */
    void deadline(long moment) {
        deadline = moment;
    }

    /** The moment has come. */
    abstract void expired();
}
