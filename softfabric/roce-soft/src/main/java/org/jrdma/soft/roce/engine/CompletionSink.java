package org.jrdma.soft.roce.engine;

/** A completion queue, seen from the engine. */
@FunctionalInterface
public interface CompletionSink {

    /**
     * Takes a completion, which the engine will overwrite. Must not block.
     *
     * @return false if there is no room for it; the queue pair is then in error
     */
    boolean add(Completion completion);
}
