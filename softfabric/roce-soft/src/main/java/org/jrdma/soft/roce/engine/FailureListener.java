package org.jrdma.soft.roce.engine;

/** A listener for unexpected exceptions. Each of them has moved a queue pair to the error state. */
@FunctionalInterface
interface FailureListener {

    /** Handles an exception. Must neither block nor throw. */
    void failed(int queuePair, Throwable cause);
}
