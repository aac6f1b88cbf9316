package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;

/**
 * A receiver of the management datagrams that arrive at queue pair 1. Its methods are called by the
 * thread that drives the engine, and must not block.
 */
public interface ManagementAgent {

    /** The number of the queue pair that sends and receives management datagrams. */
    int QUEUE_PAIR = 1;

    /** The queue key that management datagrams carry. */
    int QUEUE_KEY = 0x8001_0000;

    /**
     * Handles a datagram that queue pair 1 of a peer has sent.
     *
     * @param datagram the payload of the datagram, valid only during the call
     */
    void received(RoceGid source, MemorySegment datagram);

    /**
     * Returns the time at which {@link #expire} must be called, or {@link Long#MAX_VALUE} if no
     * timer is running.
     */
    long nextDeadline();

    /** Handles the timers that have expired. */
    void expire(long now);
}
