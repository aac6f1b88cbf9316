package org.jrdma.soft.roce.engine;

/**
 * A receive queue that requests over extended connections name (XRC SRQ). Created by {@link
 * Engine#newExtendedReceives}. Requests access memory through the protection domain of the receive
 * queue, because the receiving queue pair has none.
 */
public final class ExtendedReceiveQueue {

    private final int number;
    private final ExtendedDomain domain;
    private final ReceiveQueue queue;
    private final CompletionSink completions;
    private boolean destroyed;

    ExtendedReceiveQueue(
            int number, ExtendedDomain domain, ReceiveQueue queue, CompletionSink completions) {
        this.number = number;
        this.domain = domain;
        this.queue = queue;
        this.completions = completions;
    }

    /** The number by which peers name this queue. */
    public int number() {
        return number;
    }

    ExtendedDomain domain() {
        return domain;
    }

    ReceiveQueue queue() {
        return queue;
    }

    /** The completion queue for its receives, regardless of which queue pair takes them. */
    CompletionSink completions() {
        return completions;
    }

    void destroy() {
        destroyed = true;
    }

    /** Whether the queue was destroyed, so that completions must no longer be reported. */
    boolean isDestroyed() {
        return destroyed;
    }
}
