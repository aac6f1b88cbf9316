package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.BufferList;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.memory.WindowBinding;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a {@link SendQueue}: a work request. The posting thread fills the slot; the engine then
 * owns it until the request completes. Every setter returns the slot.
 */
public final class SendWork {

    // Set by the posting thread.
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
    int flushPlacement;
    int flushSelectivity;
    int flushBytes;
    int receiveQueue;
    boolean invalidates;
    int invalidatedKey;
    @Nullable WindowBinding binding;
    int inlineBytes = -1;
    final BufferList buffers;
    private final MemorySegment inline;

    // Set by the requester.
    int firstSequence;
    int packets;
    int packetsReceived;
    @Nullable CompletionStatus failure;

    private static final Address NOWHERE = new Address(0, 0);

    SendWork(int maxBuffers, MemorySegment inline) {
        this.buffers = new BufferList(maxBuffers);
        this.inline = inline;
    }

    /** Resets the slot for a new request. */
    public SendWork begin(long id, SendOperation operation) {
        this.id = id;
        this.operation = operation;
        signaled = false;
        solicited = false;
        fence = false;
        hasImmediate = false;
        immediate = 0;
        inlineBytes = -1;
        invalidates = false;
        binding = null;
        buffers.clear();
        return this;
    }

    /** Requests a completion on success, too. */
    public SendWork signaled() {
        signaled = true;
        return this;
    }

    /** Requests a solicited event at the receiver. */
    public SendWork solicited() {
        solicited = true;
        return this;
    }

    /** Delays this request until all earlier READs and atomics are complete. */
    public SendWork fence() {
        fence = true;
        return this;
    }

    public SendWork immediate(int data) {
        hasImmediate = true;
        immediate = data;
        return this;
    }

    /**
     * Appends a buffer: a part of the message, or the destination of the response to a READ or
     * atomic.
     */
    public SendWork buffer(long address, int length, int key) {
        buffers.add(address, length, key);
        return this;
    }

    /** Appends bytes to an inline message. They are copied now and need not be registered. */
    public SendWork inline(MemorySegment bytes) {
        var used = Math.max(inlineBytes, 0);
        MemorySegment.copy(bytes, 0, inline, used, bytes.byteSize());
        inlineBytes = used + (int) bytes.byteSize();
        return this;
    }

    /** Sets the remote memory of a WRITE, READ, atomic or flush. */
    public SendWork remote(long address, int key) {
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /** Sets the operands of an atomic. */
    public SendWork atomic(long swapOrAdd, long compare) {
        this.swapOrAdd = swapOrAdd;
        this.compare = compare;
        return this;
    }

    /**
     * Sets the extent of a flush of the {@linkplain #remote remote memory}. The codes are those of
     * libibverbs.
     */
    public SendWork flush(int placement, int selectivity, int bytes) {
        flushPlacement = placement;
        flushSelectivity = selectivity;
        flushBytes = bytes;
        return this;
    }

    /** Invalidates a memory window of the peer when the message arrives. */
    public SendWork invalidating(int key) {
        invalidates = true;
        invalidatedKey = key;
        return this;
    }

    /** Sets the key of the local memory window to invalidate. */
    public SendWork invalidate(int key) {
        invalidatedKey = key;
        return this;
    }

    /** Sets the binding of a memory window, or its removal. */
    public SendWork bind(WindowBinding newBinding) {
        binding = newBinding;
        return this;
    }

    /**
     * Executes a local operation.
     *
     * @return null on success, otherwise the status of the failure
     */
    @Nullable CompletionStatus execute(MemoryRegistry registry, AccessIdentity accessor) {
        if (operation == SendOperation.BIND) {
            return binding != null && registry.bind(accessor, binding)
                    ? null
                    : CompletionStatus.WINDOW_BIND_ERROR;
        }
        return registry.invalidate(accessor, invalidatedKey)
                ? null
                : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }

    /** Sets the destination of a datagram. */
    public SendWork datagram(Address remote, int queuePair, int queueKey) {
        this.remote = remote;
        this.remoteQueuePair = queuePair;
        this.queueKey = queueKey;
        return this;
    }

    /** Sets the peer's receive queue that a request over an extended connection names. */
    public SendWork receiveQueue(int number) {
        receiveQueue = number;
        return this;
    }

    /** Returns the end of the part, exclusive, that packet {@code index} of a READ belongs to. */
    int endOfPart(int index, int partPackets) {
        return Math.min(packets, (index / partPackets + 1) * partPackets);
    }

    long bytes() {
        return inlineBytes >= 0 ? inlineBytes : buffers.bytes();
    }

    /** Returns true if the local buffers permit the operation. */
    boolean permitted(MemoryRegistry registry, ProtectionDomain domain) {
        var rights = operation.returnsData() ? Access.LOCAL_WRITE : Access.LOCAL_READ;
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
