package org.jrdma.soft.roce.engine;

/**
 * A receive queue that requests over extended connections name (XRC SRQ). Made by {@link
 * Engine#newExtendedReceives}. The memory that they read and write is that of its protection
 * domain, for a queue pair that receives them has none.
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

    /** Its number, as peers know it. */
    public int number() {
        return number;
    }

    ExtendedDomain domain() {
        return domain;
    }

    ReceiveQueue queue() {
        return queue;
    }

    /** Where its receives complete, whichever queue pair takes them. */
    CompletionSink completions() {
        return completions;
    }

    void destroy() {
        destroyed = true;
    }

    /** Whether nobody may hear of it any more. */
    boolean isDestroyed() {
        return destroyed;
    }
}
