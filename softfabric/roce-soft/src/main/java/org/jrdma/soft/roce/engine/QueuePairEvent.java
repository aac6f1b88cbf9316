package org.jrdma.soft.roce.engine;

/** An asynchronous event of a queue pair. */
public enum QueuePairEvent {
    /** The first request of the peer arrived before the local queue pair entered the RTS state. */
    COMMUNICATION_ESTABLISHED,
    /** The peer sent an invalid request; the local queue pair has entered the error state. */
    REQUEST_ERROR,
    /**
     * The peer requested memory that it may not access; the local queue pair has entered the error
     * state.
     */
    ACCESS_ERROR,
    /**
     * A queue pair that uses a shared receive queue has entered the error state and takes no
     * further receives from the shared queue.
     */
    LAST_RECEIVE_REACHED,
    /** All work requests that had started when the send queue began to drain are complete. */
    SEND_QUEUE_DRAINED
}
