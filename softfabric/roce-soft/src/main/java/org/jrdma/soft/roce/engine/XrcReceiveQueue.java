package org.jrdma.soft.roce.engine;

/**
 * An XRC shared receive queue. Requests over XRC connections name the queue by its number. Created
 * by {@link Engine#newExtendedReceives}. Requests access memory through the protection domain of
 * this queue, because the queue pair that receives them has no protection domain.
 */
public final class XrcReceiveQueue {

    private final int number;
    private final XrcDomainIdentity domain;
    private final ReceiveQueue queue;
    private final CompletionSink completions;
    private boolean destroyed;

    XrcReceiveQueue(
            int number, XrcDomainIdentity domain, ReceiveQueue queue, CompletionSink completions) {
        this.number = number;
        this.domain = domain;
        this.queue = queue;
        this.completions = completions;
    }

    /** Returns the number by which requests from peers name this queue. */
    public int number() {
        return number;
    }

    XrcDomainIdentity domain() {
        return domain;
    }

    ReceiveQueue queue() {
        return queue;
    }

    /**
     * Returns the completion queue for the receives of this queue. It does not depend on the queue
     * pair at which a message arrives.
     */
    CompletionSink completions() {
        return completions;
    }

    void destroy() {
        destroyed = true;
    }

    /**
     * Returns true if this queue was destroyed. Its completions must then no longer be reported.
     */
    boolean isDestroyed() {
        return destroyed;
    }
}
