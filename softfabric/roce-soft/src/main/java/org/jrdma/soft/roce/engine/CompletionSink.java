package org.jrdma.soft.roce.engine;

/** A completion queue, seen from the engine. */
@FunctionalInterface
public interface CompletionSink {

    /** Takes a completion, which the engine will overwrite. Must not block. */
    void add(Completion completion);
}
