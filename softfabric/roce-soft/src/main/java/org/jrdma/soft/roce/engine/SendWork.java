package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.BindRequest;
import org.jrdma.soft.roce.memory.BufferList;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a {@link SendQueue}, which contains a work request. The posting thread fills the slot.
 * After posting, the engine owns the slot until the request completes. Every setter returns this
 * slot.
 */
public final class SendWork {

    // The following fields are set by the posting thread.
    long id;
    SendOperationKind operation = SendOperationKind.SEND;
    boolean signaled;
    boolean solicited;
    boolean fence;
    boolean hasImmediate;
    int immediate;
    long remoteAddress;
    int remoteKey;
    long swapOrAdd;
    long compare;
    RoceGid remote = NOWHERE;
    int remoteQueuePair;
    int queueKey;
    int flushPlacement;
    int flushSelectivity;
    int flushBytes;
    int receiveQueue;
    boolean invalidates;
    int invalidatedKey;
    @Nullable BindRequest binding;
    int inlineBytes = -1;
    final BufferList buffers;
    private final MemorySegment inline;

    // The following fields are set by the requester.
    int firstSequence;
    int packets;
    int packetsReceived;
    @Nullable CompletionStatus failure;

    private static final RoceGid NOWHERE = new RoceGid(0, 0);

    SendWork(int maxBuffers, MemorySegment inline) {
        this.buffers = new BufferList(maxBuffers);
        this.inline = inline;
    }

    /**
     * Resets the slot for a new work request.
     *
     * @param id the ID that the completion of the request reports
     */
    public SendWork begin(long id, SendOperationKind operation) {
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

    /** Requests a completion even if the request succeeds. */
    public SendWork signaled() {
        signaled = true;
        return this;
    }

    /** Requests that the completion at the receiver raises a solicited event. */
    public SendWork solicited() {
        solicited = true;
        return this;
    }

    /**
     * Delays the start of this request until all earlier requests that need a response are
     * complete.
     */
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
     * Appends a local buffer: a part of the message, or the destination of the data that a READ or
     * atomic returns.
     */
    public SendWork buffer(long address, int length, int key) {
        buffers.add(address, length, key);
        return this;
    }

    /**
     * Appends bytes to an inline message. The bytes are copied immediately and need not be in
     * registered memory.
     */
    public SendWork inline(MemorySegment bytes) {
        var used = Math.max(inlineBytes, 0);
        MemorySegment.copy(bytes, 0, inline, used, bytes.byteSize());
        inlineBytes = used + (int) bytes.byteSize();
        return this;
    }

    /**
     * Sets the address and key of the remote memory of a WRITE, READ, atomic, ATOMIC WRITE or
     * flush.
     */
    public SendWork remote(long address, int key) {
        remoteAddress = address;
        remoteKey = key;
        return this;
    }

    /** Sets the operands of an atomic operation. {@code compare} is ignored by FETCH AND ADD. */
    public SendWork atomic(long swapOrAdd, long compare) {
        this.swapOrAdd = swapOrAdd;
        this.compare = compare;
        return this;
    }

    /**
     * Sets the extent of a flush of {@linkplain #remote remote memory}. The codes of the placement
     * and selectivity are those of libibverbs.
     */
    public SendWork flush(int placement, int selectivity, int bytes) {
        flushPlacement = placement;
        flushSelectivity = selectivity;
        flushBytes = bytes;
        return this;
    }

    /**
     * Requests that the receiver invalidates its memory window with the given key when the message
     * arrives.
     */
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

    /** Sets the binding or unbinding of a memory window that a BIND request performs. */
    public SendWork bind(BindRequest newBinding) {
        binding = newBinding;
        return this;
    }

    /**
     * Executes a bind or an invalidation, which send no packet.
     *
     * @return null on success, otherwise the status with which the request fails
     */
    @Nullable CompletionStatus execute(MemoryRegistry registry, AccessIdentity accessor) {
        if (operation == SendOperationKind.BIND) {
            return binding != null && registry.bind(accessor, binding)
                    ? null
                    : CompletionStatus.WINDOW_BIND_ERROR;
        }
        return registry.invalidate(accessor, invalidatedKey)
                ? null
                : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }

    /** Sets the destination of a datagram. */
    public SendWork datagram(RoceGid remote, int queuePair, int queueKey) {
        this.remote = remote;
        this.remoteQueuePair = queuePair;
        this.queueKey = queueKey;
        return this;
    }

    /**
     * Sets the number of the receive queue of the peer to which a request over an extended
     * connection is addressed.
     */
    public SendWork receiveQueue(int number) {
        receiveQueue = number;
        return this;
    }

    /**
     * Returns the index of the packet after a part of a READ, with which the next part begins.
     *
     * @param index the index of a packet in the part
     * @param partPackets the number of packets in each part except the last, which may be shorter
     */
    int endOfPart(int index, int partPackets) {
        return Math.min(packets, (index / partPackets + 1) * partPackets);
    }

    /** Returns the length of the local data in bytes. */
    long bytes() {
        return inlineBytes >= 0 ? inlineBytes : buffers.bytes();
    }

    /** Returns true if the local buffers may be accessed as the operation requires. */
    boolean permitted(MemoryRegistry registry, ProtectionDomain domain) {
        var rights = operation.returnsData() ? Access.LOCAL_WRITE : Access.LOCAL_READ;
        return inlineBytes >= 0 || buffers.permits(registry, domain, rights);
    }

    /**
     * Copies a part of the message to {@code target}. Returns false if a local buffer may not be
     * read.
     */
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
