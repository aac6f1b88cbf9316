package org.jrdma.soft.roce.engine;

/** An asynchronous event of a queue pair. */
public enum QueuePairEvent {
    /** The first packet arrived before the queue pair was ready to send. */
    COMMUNICATION_ESTABLISHED,
    /** The peer sent an invalid request; the queue pair is in the error state. */
    REQUEST_ERROR,
    /** The peer requested memory that it may not access; the queue pair is in the error state. */
    ACCESS_ERROR,
    /** A queue pair in the error state takes no further receives from its shared receive queue. */
    LAST_RECEIVE_REACHED,
    /** A draining queue pair has no more work in flight. */
    SEND_QUEUE_DRAINED
}
