package org.jrdma.soft.roce.engine;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.BufferList;
import org.jrdma.soft.roce.memory.MemoryAccessor;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.memory.WindowBinding;
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
        invalidates = false;
        binding = null;
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

    /** The memory a WRITE, READ, atomic or flush goes to. */
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

    /** How far what {@link #remote} names is to be flushed; the codes are those of libibverbs. */
    public SendWork flush(int placement, int selectivity, int bytes) {
        flushPlacement = placement;
        flushSelectivity = selectivity;
        flushBytes = bytes;
        return this;
    }

    /** Takes away the peer's window that has a key, when the message is there. */
    public SendWork invalidating(int key) {
        invalidates = true;
        invalidatedKey = key;
        return this;
    }

    /** Takes away the window of this side's that has a key. */
    public SendWork invalidate(int key) {
        invalidatedKey = key;
        return this;
    }

    /** Binds or unbinds a memory window. */
    public SendWork bind(WindowBinding wanted) {
        binding = wanted;
        return this;
    }

    /**
     * Executes a local operation.
     *
     * @return null on success
     */
    @Nullable CompletionStatus execute(MemoryRegistry registry, MemoryAccessor accessor) {
        if (operation == SendOperation.BIND) {
            return binding != null && registry.bind(accessor, binding)
                    ? null
                    : CompletionStatus.WINDOW_BIND_ERROR;
        }
        return registry.invalidate(accessor, invalidatedKey)
                ? null
                : CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
    }

    /** Where a datagram goes. */
    public SendWork datagram(Address remote, int queuePair, int queueKey) {
        this.remote = remote;
        this.remoteQueuePair = queuePair;
        this.queueKey = queueKey;
        return this;
    }

    /** The peer's receive queue that a request over an extended connection is for. */
    public SendWork receiveQueue(int number) {
        receiveQueue = number;
        return this;
    }

    /** The end of the part, exclusive, that packet {@code index} of a READ belongs to. */
    int endOfPart(int index, int partPackets) {
        return Math.min(packets, (index / partPackets + 1) * partPackets);
    }

    long bytes() {
        return inlineBytes >= 0 ? inlineBytes : buffers.bytes();
    }

    /** Whether its own memory may be used as the operation needs it. */
    boolean permitted(MemoryRegistry registry, ProtectionDomain domain) {
        var rights = operation.bringsData() ? Access.LOCAL_WRITE : Access.LOCAL_READ;
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
