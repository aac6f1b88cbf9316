package org.jrdma.soft.roce.engine;

/**
 * The report of a finished work request. An engine reuses one object for all its completions, so a
 * {@link CompletionSink} must copy the fields that it needs.
 */
public final class Completion {

    long id;
    CompletionStatus status = CompletionStatus.SUCCESS;
    CompletionKind kind = CompletionKind.SEND;
    long bytes;
    boolean hasImmediate;
    int immediate;
    boolean invalidated;
    int invalidatedKey;
    int queuePair;
    int sourceQueuePair;
    boolean solicited;
    boolean hasRouteHeader;
    private long count;

    Completion() {}

    void begin(long id, CompletionStatus status, CompletionKind kind, int queuePair) {
        count++;
        this.id = id;
        this.status = status;
        this.kind = kind;
        this.queuePair = queuePair;
        bytes = 0;
        hasImmediate = false;
        immediate = 0;
        invalidated = false;
        invalidatedKey = 0;
        sourceQueuePair = 0;
        solicited = false;
        hasRouteHeader = false;
    }

    /** Returns the number of completions that the engine has reported with this object. */
    long count() {
        return count;
    }

    /** Returns the ID that the caller assigned to the work request when it posted the request. */
    public long id() {
        return id;
    }

    public CompletionStatus status() {
        return status;
    }

    public CompletionKind kind() {
        return kind;
    }

    /**
     * Returns the length of the message in bytes. For a datagram, the length includes the 40-byte
     * route header.
     */
    public long bytes() {
        return bytes;
    }

    public boolean hasImmediate() {
        return hasImmediate;
    }

    public int immediate() {
        return immediate;
    }

    /** Returns true if the message has invalidated a memory window of the receiver. */
    public boolean invalidated() {
        return invalidated;
    }

    /** Returns the key of the invalidated memory window, if {@link #invalidated()}. */
    public int invalidatedKey() {
        return invalidatedKey;
    }

    public int queuePair() {
        return queuePair;
    }

    /** Returns the number of the queue pair that sent the received message. */
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    /**
     * Returns true if this completion raises a solicited event. A completion with an error always
     * does.
     */
    public boolean solicited() {
        return solicited || status != CompletionStatus.SUCCESS;
    }

    /** Returns true if the receive buffer begins with a route header of 40 bytes (GRH). */
    public boolean hasRouteHeader() {
        return hasRouteHeader;
    }
}
