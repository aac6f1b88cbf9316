package org.jrdma.soft.roce.engine;

/** Who is told of a queue pair's events. */
@FunctionalInterface
public interface EventSink {

    /** Must not block. */
    void raised(QueuePairEvent event);
}
