package org.jrdma.soft.roce.engine;

import org.jspecify.annotations.Nullable;

/**
 * A queue pair as seen by the timers, doorbells, paths and turns of an engine. Their queues link
 * queue pairs through these fields and therefore allocate nothing.
 */
abstract class Schedulable {

    /** True if a turn to send is scheduled. Used by {@link Engine}. */
    boolean active;

    /** When the timer expires. Set by {@link TimerQueue}. */
    long deadline = TimerQueue.NEVER;

    /** The position in the heap of {@link TimerQueue}. */
    long timerKey;

    int timerIndex = -1;

    /** True if this waits for free capacity. Used by {@link CongestionWindow}. */
    boolean waitsForPath;

    /** True if this is on the stack of {@link Doorbells}, and the next entry below. */
    @SuppressWarnings("unused") // through a VarHandle
    boolean queued;

    @Nullable Schedulable below;

    /** Sends one packet, if there is one to send. */
    abstract TransmitResult send();

    /** Completes work that was posted to a queue in the error state. */
    abstract void flush();

    /** Handles the expiry of the timer. */
    abstract void timerExpired();

    /** Enters the error state, unless already in it, and flushes all work. */
    abstract void failOnce();

    /** Returns the number of the queue pair. */
    public abstract int number();
}
