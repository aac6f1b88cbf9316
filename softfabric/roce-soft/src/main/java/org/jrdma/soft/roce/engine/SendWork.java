package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a {@link SendQueue}: a work request, filled by who posts it, then the engine's until it
 * completes. Every setter returns the slot.
 */
public final class SendWork {

    // The request.
    long id;
    SendOperation operation = SendOperation.SEND;
    boolean signaled;
    boolean solicited;
    boolean fence;
    boolean hasImmediate;
    int immediate;
    long remoteAddress;
    int remoteKey;
    long swapOrAdd;
    long compare;
    Address remote = NOWHERE;
    int remoteQueuePair;
    int queueKey;
    int inlineBytes = -1;
    final BufferList buffers;
    private final MemorySegment inline;

    // What the requester notes while it is under way.
    int firstSequence;
    int packets;
    int packetsReceived;
    @Nullable CompletionStatus failure;

    private static final Address NOWHERE = new Address(0, 0);

    SendWork(int maxBuffers, MemorySegment inline) {
        this.buffers = new BufferList(maxBuffers);
        this.inline = inline;
    }

    /** Empties the slot for a new request. */
    public SendWork begin(long id, SendOperation operation) {
        this.id = id;
        this.operation = operation;
        signaled = false;
        solicited = false;
        fence = false;
        hasImmediate = false;
        immediate = 0;
        inlineBytes = -1;
        buffers.clear();
        return this;
    }

    /** Asks for a completion on success too. */
    public SendWork signaled() {
        signaled = true;
        return this;
    }

    /** Asks that the receiver's completion wake those who wait for solicited ones. */
    public SendWork solicited() {
        solicited = true;
        return this;
    }

    /** Holds this back until all earlier READs and atomics are done. */
    public SendWork fence() {
        fence = true;
        return this;
    }

    public SendWork immediate(int data) {
        hasImmediate = true;
        immediate = data;
        return this;
    }

    /** Appends a piece of the message, or of where a READ's or atomic's answer goes. */
    public SendWork buffer(long address, int length, int key) {
        buffers.add(address, length, key);
        return this;
    }

    /** Appends bytes to a message that is copied now and needs no registered memory. */
    public SendWork inline(MemorySegment bytes) {
        var used = Math.max(inlineBytes, 0);
        MemorySegment.copy(bytes, 0, inline, used, bytes.byteSize());
        inlineBytes = used + (int) bytes.byteSize();
        return this;
    }

    /** The memory a WRITE, READ or atomic goes to. */
    public SendWork remote(long address, int key) {
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /** The operands of an atomic. */
    public SendWork atomic(long swapOrAdd, long compare) {
        this.swapOrAdd = swapOrAdd;
        this.compare = compare;
        return this;
    }

    /** Where a datagram goes. */
    public SendWork datagram(Address remote, int queuePair, int queueKey) {
        this.remote = remote;
        this.remoteQueuePair = queuePair;
        this.queueKey = queueKey;
        return this;
    }

    long bytes() {
        return inlineBytes >= 0 ? inlineBytes : buffers.bytes();
    }

    /** Whether its own memory may be used as the operation needs it. */
    boolean permitted(MemoryRegistry registry, ProtectionDomain domain) {
        var rights = operation.needsResponse() ? Access.LOCAL_WRITE : Access.NONE;
        return inlineBytes >= 0 || buffers.permits(registry, domain, rights);
    }

    boolean gather(
            MemoryRegistry registry,
            ProtectionDomain domain,
            long offset,
            MemorySegment target,
            long targetOffset,
            long length) {
        if (inlineBytes >= 0) {
            MemorySegment.copy(inline, offset, target, targetOffset, length);
            return true;
        }
        return buffers.gather(registry, domain, offset, target, targetOffset, length);
    }
}
