package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;

/** What is behind queue pair 1. For the thread that drives the engine; must not wait. */
public interface ManagementAgent {

    /** The number of the queue pair that such datagrams come from and go to. */
    int QUEUE_PAIR = 1;

    /** The key that they bear. */
    int QUEUE_KEY = 0x8001_0000;

    /**
     * A datagram has come from queue pair 1 of an address.
     *
     * @param datagram valid during the call only
     */
    void received(Address source, MemorySegment datagram);

    /** When to {@link #expire} next; {@link Long#MAX_VALUE} for never. */
    long nextDeadline();

    /** Does what was to be done by now. */
    void expire(long now);
}
