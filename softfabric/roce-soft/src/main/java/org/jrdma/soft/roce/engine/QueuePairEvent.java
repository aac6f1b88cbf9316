package org.jrdma.soft.roce.engine;

/** What happens to a queue pair apart from completions. */
public enum QueuePairEvent {
    /** The first packet arrived before the queue pair was ready to send. */
    COMMUNICATION_ESTABLISHED,
    /** The peer sent a request that makes no sense; the queue pair is in error. */
    REQUEST_ERROR,
    /** The peer asked for memory it may not touch; the queue pair is in error. */
    ACCESS_ERROR,
    /** In error, it will take no more from its shared receive queue. */
    LAST_RECEIVE_REACHED,
    /** Draining, it has nothing under way any more. */
    SEND_QUEUE_DRAINED
}
