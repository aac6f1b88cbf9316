package org.jrdma.soft.roce.engine;

/**
 * Is notified of unexpected exceptions in the engine. Before the call, the engine has tried to move
 * the affected queue pair to the error state.
 */
@FunctionalInterface
interface FailureListener {

    /**
     * Handles an exception. Must neither block nor throw.
     *
     * @param queuePair the number of the queue pair; 0 if the exception concerns none
     */
    void failed(int queuePair, Throwable cause);
}
