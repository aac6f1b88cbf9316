package org.jrdma.soft.roce.engine;

/** A completion. One object carries all completions of an engine: copy its fields to keep them. */
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

    /** How many completions this object has carried. */
    long count() {
        return count;
    }

    /** The number that the work request was posted with. */
    public long id() {
        return id;
    }

    public CompletionStatus status() {
        return status;
    }

    public CompletionKind kind() {
        return kind;
    }

    /** The length of the message; of a datagram, with the 40 bytes in front. */
    public long bytes() {
        return bytes;
    }

    public boolean hasImmediate() {
        return hasImmediate;
    }

    public int immediate() {
        return immediate;
    }

    /** Whether the sender has taken a window away. */
    public boolean invalidated() {
        return invalidated;
    }

    /** The key that the window had. */
    public int invalidatedKey() {
        return invalidatedKey;
    }

    public int queuePair() {
        return queuePair;
    }

    /** Who sent a datagram. */
    public int sourceQueuePair() {
        return sourceQueuePair;
    }

    /** Whether it wakes those who wait for solicited completions: those in error do, too. */
    public boolean solicited() {
        return solicited || status != CompletionStatus.SUCCESS;
    }

    /** Whether 40 bytes of route header stand in front of the message (GRH). */
    public boolean hasRouteHeader() {
        return hasRouteHeader;
    }
}
