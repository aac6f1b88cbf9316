package org.jrdma.verbs;

import java.util.List;
import java.util.Objects;
import org.jrdma.verbs.internal.PostAndPollFunctions;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A prepared request for a send queue: a message, write, read, atomic operation, bind, invalidation
 * or flush.
 *
 * @param <S> the type of the request
 */
public abstract class PreparedSendRequest<S extends PreparedSendRequest<S>>
        extends PreparedRequest<S> {

    private final NativeQueuePair queuePair;
    private final Operation operation;
    private final Send request;
    private long length;
    private boolean inPlace = true;
    private int flags = Send.SIGNALED;
    private boolean hasReceiveQueue;

    PreparedSendRequest(PostTarget<PolledWorkQueueSlots> post, Operation operation) {
        this(post, operation, new Send(post.maxElements()));
    }

    private PreparedSendRequest(
            PostTarget<PolledWorkQueueSlots> post, Operation operation, Send request) {
        super(post, request);
        this.queuePair = Objects.requireNonNull(post.queuePair());
        this.operation = operation;
        this.request = request;
        request.operation(operation);
        request.flags(flags);
    }

    /**
     * Selects whether the request generates a completion if it succeeds; true by default. A failed
     * request always generates a completion. In C: {@code IBV_SEND_SIGNALED}.
     */
    public final S signaled(boolean wanted) {
        return flag(Send.SIGNALED, wanted);
    }

    /**
     * Selects whether the request starts only after all earlier reads and atomics of this queue
     * pair have completed; false by default. In C: {@code IBV_SEND_FENCE}.
     */
    public final S fenced(boolean wanted) {
        return flag(Send.FENCE, wanted);
    }

    /**
     * The C function that posts the request, for exception messages: {@code ibv_post_send}, or
     * {@code ibv_wr_complete} for extended posts.
     */
    @Override
    final String function() {
        return queuePair.postFunction();
    }

    final S flag(int flag, boolean wanted) {
        checkThread();
        flags = wanted ? flags | flag : flags & ~flag;
        request.flags(flags);
        return self();
    }

    /**
     * Selects a shared receive queue of the peer, for a request over an extended reliable
     * connection. A message consumes a receive of that queue. Reads, writes and atomics access
     * memory in the protection domain of that queue. Each request on the sending side of an
     * extended reliable connection must select a shared receive queue before it is posted. In C:
     * {@code ibv_wr_set_xrc_srqn}.
     *
     * @param number the {@linkplain SharedReceiveQueue#number number} that the peer announced
     * @throws IllegalArgumentException if {@code number} has more than 24 bits, or the queue pair
     *     is not the sending side of an extended reliable connection
     */
    public final S receiveQueue(int number) {
        checkThread();
        queuePair.checkReceiveQueue(true);
        request.receiveQueue(NativeQueuePair.checkedReceiveQueue(number));
        hasReceiveQueue = true;
        return self();
    }

    @Override
    final void checkComplete() {
        if (!hasReceiveQueue) {
            queuePair.checkReceiveQueue(false);
        }
    }

    final S immediate(Operation withImmediate, int data) {
        checkThread();
        request.operation(withImmediate);
        request.immediate(data);
        return self();
    }

    /**
     * Sets or clears {@link Send#INLINE}. With this flag, the provider copies the data when the
     * request is posted.
     */
    final S copied(boolean wanted) {
        checkThread();
        if (wanted) {
            checkInline(length);
            checkInPlace(inPlace);
        }
        return flag(Send.INLINE, wanted);
    }

    final NativeQueuePair queuePair() {
        return queuePair;
    }

    final Operation operation() {
        return operation;
    }

    final Send request() {
        return request;
    }

    /** The total length of the slices. */
    final long length() {
        return length;
    }

    @Override
    void checkSlices(int count, long bytes, boolean allInPlace) {
        checkLength(bytes);
        if ((flags & Send.INLINE) != 0) {
            checkInPlace(allInPlace);
        }
        length = bytes;
        inPlace = allInPlace;
    }

    /** Checks that an operation without local memory has no slices. */
    final void checkNoSlices(int count) {
        if (count != 0) {
            throw new IllegalArgumentException(
                    "%s transfers no local memory, so it cannot have slices".formatted(operation));
        }
    }

    /** Checks that {@code bytes}, the total length of the slices, is allowed for the request. */
    void checkLength(long bytes) {
        if ((flags & Send.INLINE) != 0) {
            checkInline(bytes);
        }
    }

    private void checkInline(long bytes) {
        if (bytes > queuePair.inlineBytes()) {
            throw new IllegalArgumentException(
                    "%s can send at most %d bytes inline, but the request has %d. Increase inlineBytes() in its options."
                            .formatted(queuePair, queuePair.inlineBytes(), bytes));
        }
    }

    private static void checkInPlace(boolean inPlace) {
        // An inline post reads the data at the address in the request, which must therefore be the
        // virtual address.
        if (!inPlace) {
            throw new IllegalArgumentException(
                    "Memory can be sent inline only if its address in requests is its virtual"
                            + " address");
        }
    }

    @Override
    void checkState() throws VerbsException {
        queuePair.checkCanSend();
    }

    @Override
    int call(PostAndPollFunctions hotPath, long queuePairAddress, WorkRequest first) {
        return hotPath.postSend(queuePairAddress, first.address(), first.refusedAddress());
    }

    /**
     * A prepared read or write of remote memory.
     *
     * @param <S> the type of the request
     */
    public abstract static sealed class RemoteTransfer<S extends RemoteTransfer<S>>
            extends PreparedSendRequest<S> permits PreparedRead, PreparedWrite {

        private RemoteMemory memory;
        private long offset;

        RemoteTransfer(
                PostTarget<PolledWorkQueueSlots> post,
                Operation operation,
                List<MemorySlice> slices,
                RemoteMemory memory) {
            super(post, operation);
            this.memory = memory; // before local(), which checks the length of the slices with it
            request().remote(memory.address(), memory.key());
            local(slices);
        }

        /**
         * Selects an offset in the remote memory.
         *
         * @throws IndexOutOfBoundsException if the range is not within the remote memory
         */
        public final S remoteOffset(long bytes) {
            checkThread();
            RequestWriter.checkRange(bytes, length(), memory);
            offset = bytes;
            request().remoteAddress(memory.address() + bytes);
            return self();
        }

        /**
         * Selects other local and remote memory, starting at the first byte of the remote memory.
         * Does not allocate.
         *
         * @throws IndexOutOfBoundsException if the remote memory is shorter
         */
        public final S buffers(MemorySlice slice, RemoteMemory other) {
            checkThread();
            select(other, slice.length());
            return local(slice);
        }

        /**
         * Selects other remote memory, starting at its first byte.
         *
         * @throws IndexOutOfBoundsException if the range is not within the remote memory
         */
        public final S remote(RemoteMemory other) {
            checkThread();
            select(other, length());
            return self();
        }

        private void select(RemoteMemory other, long length) {
            RequestWriter.checkRange(0, length, other);
            memory = other;
            offset = 0;
            request().remote(other.address(), other.key());
        }

        @Override
        final void checkLength(long bytes) {
            super.checkLength(bytes);
            RequestWriter.checkRange(offset, bytes, memory);
        }

        final RemoteMemory memory() {
            return memory;
        }
    }
}
