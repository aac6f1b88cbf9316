package org.jrdma.soft.roce.engine;

/** A listener for unexpected exceptions, each of which ended a queue pair. */
@FunctionalInterface
interface FailureListener {

    /** Must neither block nor throw. */
    void failed(int queuePair, Throwable cause);
}
