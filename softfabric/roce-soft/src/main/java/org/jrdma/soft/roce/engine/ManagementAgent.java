package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;

/**
 * The handler of management datagrams, which use queue pair 1. Called by the thread that drives the
 * engine; must not block.
 */
public interface ManagementAgent {

    /** The number of the queue pair for management datagrams. */
    int QUEUE_PAIR = 1;

    /** The queue key of management datagrams. */
    int QUEUE_KEY = 0x8001_0000;

    /**
     * Handles a datagram from queue pair 1 of a peer.
     *
     * @param datagram the payload, valid only during the call
     */
    void received(Address source, MemorySegment datagram);

    /** The time of the next {@link #expire}, or {@link Long#MAX_VALUE} for never. */
    long nextDeadline();

    /** Handles the timers that have expired. */
    void expire(long now);
}
