package org.jrdma.soft.roce.engine;

/** Who is told of events. */
@FunctionalInterface
public interface EventSink {

    /** Must not block. */
    void raised(QueuePair queuePair, QueuePairEvent event);
}
