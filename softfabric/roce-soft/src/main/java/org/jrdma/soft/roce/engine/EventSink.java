package org.jrdma.soft.roce.engine;

/** A listener for the events of a queue pair. */
@FunctionalInterface
public interface EventSink {

    /**
     * Handles an event of the queue pair. Called by the thread that drives the engine; must not
     * block.
     */
    void raised(QueuePairEvent event);
}
