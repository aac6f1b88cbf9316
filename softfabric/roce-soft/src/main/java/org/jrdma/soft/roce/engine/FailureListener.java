package org.jrdma.soft.roce.engine;

/**
 * A listener for unexpected exceptions in the processing of queue pairs. The engine has already
 * tried to move the queue pair to the error state.
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
