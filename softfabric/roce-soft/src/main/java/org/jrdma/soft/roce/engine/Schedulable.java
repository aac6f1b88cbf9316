package org.jrdma.soft.roce.engine;

import org.jspecify.annotations.Nullable;

/**
 * The part of a queue pair that the scheduling structures of an {@link Engine} use: its timers,
 * doorbells, paths and the queue of turns. Doorbells, for example, are linked through these fields,
 * so that ringing one allocates nothing.
 */
abstract class Schedulable {

    /**
     * True if this queue pair has a turn to send or is in the queue of turns. Used by {@link
     * Engine}.
     */
    boolean active;

    /** The time at which the timer expires. Set by {@link TimerQueue}. */
    long deadline = TimerQueue.NEVER;

    /**
     * The deadline by which the heap of {@link TimerQueue} orders this queue pair; it may be
     * earlier than {@link #deadline}.
     */
    long timerKey;

    /** The index in the heap of {@link TimerQueue}, or -1 if this queue pair is not in the heap. */
    int timerIndex = -1;

    /**
     * True if this queue pair waits for its path to admit a packet. Used by {@link
     * PathCongestionWindow}.
     */
    boolean waitsForPath;

    /** True if this queue pair is on the stack of {@link Doorbells}. */
    @SuppressWarnings("unused") // Accessed through a VarHandle.
    boolean queued;

    /** The next queue pair on the stack of {@link Doorbells}. */
    @Nullable Schedulable below;

    /** Sends the next packet, if there is one and it may be sent now. */
    abstract TransmitResult send();

    /**
     * Completes all posted work as flushed if the state of the queue pair requires that; called
     * when the doorbell was rung.
     */
    abstract void flush();

    /** Handles the expiry of the timer. */
    abstract void timerExpired();

    /**
     * Enters the error state and flushes all work. Does nothing if the queue pair is already in the
     * error state.
     */
    abstract void failOnce();

    /** Returns the queue pair number. */
    public abstract int number();
}
