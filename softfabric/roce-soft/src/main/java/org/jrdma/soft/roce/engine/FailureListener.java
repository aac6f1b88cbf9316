package org.jrdma.soft.roce.engine;

/** Who is told of what nobody foresaw, and which queue pair it ended. */
@FunctionalInterface
interface FailureListener {

    /** Must neither block nor throw. */
    void failed(QueuePair queuePair, Throwable cause);
}
