package org.jrdma.soft.roce.engine;

/** A completion queue, as used by the engine. */
@FunctionalInterface
public interface CompletionSink {

    /**
     * Adds a completion to the queue. Must copy the fields, because the engine reuses the object,
     * and must not block.
     *
     * @return false if the completion queue is full; the queue pair then enters the error state
     */
    boolean add(Completion completion);
}
