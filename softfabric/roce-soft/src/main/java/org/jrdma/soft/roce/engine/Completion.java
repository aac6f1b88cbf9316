package org.jrdma.soft.roce.engine;

/**
 * A completion. An engine reuses one object for all its completions: copy the fields to keep them.
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

    /** The number of completions that this object has carried. */
    long count() {
        return count;
    }

    /** The ID that the work request was posted with. */
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
     * The length of the message in bytes. For a datagram, this includes the 40-byte route header.
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

    /** Whether the sender has invalidated a memory window. */
    public boolean invalidated() {
        return invalidated;
    }

    /** The key of the invalidated window. */
    public int invalidatedKey() {
        return invalidatedKey;
    }

    public int queuePair() {
        return queuePair;
    }

    /** The queue pair that sent the message. */
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    /** Whether this completion raises a solicited event. Completions in error always do. */
    public boolean solicited() {
        return solicited || status != CompletionStatus.SUCCESS;
    }

    /** Whether the buffer begins with a route header of 40 bytes (GRH). */
    public boolean hasRouteHeader() {
        return hasRouteHeader;
    }
}
