package org.jrdma.soft.roce.engine;

/** A listener for the events of a queue pair. */
@FunctionalInterface
public interface EventSink {

    /** Handles an event. Must not block. */
    void raised(QueuePairEvent event);
}
