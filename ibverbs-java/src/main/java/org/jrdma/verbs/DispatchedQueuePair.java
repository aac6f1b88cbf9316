package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;

/**
 * A queue pair whose operations are awaited: each is posted at once and gives a {@link Transfer},
 * which its {@link CompletionDispatcher} completes.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Messages and writes
 * that fit are sent inline.
 */
public final class DispatchedQueuePair extends QueuePair {

    private final Direction sends;
    private final Direction receives;
    private final WorkRequest.Send sendRequest;
    private final WorkRequest.Receive receiveRequest;
    private final Duration slotTimeout;

    /** In use as long as this is. */
    @SuppressWarnings("unused")
    private final CompletionDispatcher completions;

    /** How many threads drain it. */
    private final AtomicInteger draining = new AtomicInteger();

    /** A work queue, and what is said of it. */
    private record Direction(DispatchedWorkQueue queue, String name, String function) {}

    DispatchedQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<DispatchedQueuePair> options)
            throws VerbsException {
        this(
                domain,
                completions,
                options,
                new DispatchedWorkQueue(options.sends()),
                new DispatchedWorkQueue(options.receives()));
    }

    private DispatchedQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<DispatchedQueuePair> options,
            DispatchedWorkQueue sends,
            DispatchedWorkQueue receives)
            throws VerbsException {
        super(
                domain,
                make(
                        domain,
                        completions,
                        completions,
                        sends,
                        receives,
                        options,
                        () -> {
                            sends.abandon();
                            receives.abandon();
                        }),
                options);
        this.sends = new Direction(sends, "send queue of " + this, "ibv_post_send");
        this.receives = new Direction(receives, "receive queue of " + this, "ibv_post_recv");
        this.sendRequest = new WorkRequest.Send(options.sendElements());
        this.receiveRequest = new WorkRequest.Receive(options.receiveElements());
        this.slotTimeout = options.slotTimeout();
        this.completions = completions;
    }

    /**
     * Sends a message, which takes up a receive of the peer's. In C: {@code IBV_WR_SEND}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public Transfer send(MemorySlice local) throws FabricException, InterruptedIOException {
        return send(List.of(local));
    }

    /** Sends a message gathered from pieces. */
    public Transfer send(List<MemorySlice> local) throws FabricException, InterruptedIOException {
        return post(Operation.SEND, local, request -> {});
    }

    /**
     * Sends a message with 32 bits along, which the peer finds in its completion. In C: {@code
     * IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, int immediate)
            throws FabricException, InterruptedIOException {
        return post(
                Operation.SEND_WITH_IMMEDIATE,
                List.of(local),
                request -> request.immediate(immediate));
    }

    /**
     * Receives a message. Its completion says how long it was. In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public Transfer receive(MemorySlice local) throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to hear of a write with immediate data. */
    public Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        if (!takesReceives()) {
            throw wrongState("ibv_post_recv", "receives are taken from INIT on");
        }
        return submit(receives, "RECEIVE", local, receiveRequest, () -> {});
    }

    /**
     * Writes the beginning of the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if it cannot be posted
     */
    public Transfer write(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return write(List.of(local), remote);
    }

    /** Writes the beginning of the peer's memory, gathered from pieces. */
    public Transfer write(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return transfer(Operation.WRITE, local, remote, 0);
    }

    /**
     * Writes the beginning of the peer's memory, with 32 bits along that take up a receive of the
     * peer's. In C: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public Transfer writeWithImmediate(MemorySlice local, RemoteMemory remote, int immediate)
            throws FabricException, InterruptedIOException {
        return transfer(Operation.WRITE_WITH_IMMEDIATE, List.of(local), remote, immediate);
    }

    /**
     * Reads the beginning of the peer's memory, as much as {@code local} holds. In C: {@code
     * IBV_WR_RDMA_READ}.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if it cannot be posted
     */
    public Transfer read(MemorySlice local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return read(List.of(local), remote);
    }

    /** Reads the beginning of the peer's memory, scattered to pieces. */
    public Transfer read(List<MemorySlice> local, RemoteMemory remote)
            throws FabricException, InterruptedIOException {
        return transfer(Operation.READ, local, remote, 0);
    }

    /**
     * Replaces the first 8 bytes of the peer's memory if they are {@code expected}; what they were
     * comes to {@code result}, in this machine's byte order. In C: {@code
     * IBV_WR_ATOMIC_CMP_AND_SWP}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public Transfer compareAndSwap(
            MemorySlice result, RemoteMemory remote, long expected, long replacement)
            throws FabricException, InterruptedIOException {
        return atomic(Operation.COMPARE_AND_SWAP, result, remote, expected, replacement);
    }

    /**
     * Adds to the first 8 bytes of the peer's memory; what they were comes to {@code result}, in
     * this machine's byte order. In C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public Transfer fetchAndAdd(MemorySlice result, RemoteMemory remote, long delta)
            throws FabricException, InterruptedIOException {
        return atomic(Operation.FETCH_AND_ADD, result, remote, delta, 0);
    }

    /**
     * Puts the queue pair into the error state and waits until every transfer has been completed,
     * most as {@link CompletionStatus#FLUSHED}, so that the adapter no longer uses any memory for
     * it.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public void drain(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        draining.incrementAndGet(); // what is posted meanwhile would never let it end
        try {
            modify(QueuePairChange.to(QueuePairState.ERROR));
            for (var direction : List.of(sends, receives)) {
                direction.queue.awaitAllFree(deadline, direction.name);
            }
        } finally {
            draining.decrementAndGet();
        }
    }

    private Transfer transfer(
            Operation operation, List<MemorySlice> local, RemoteMemory remote, int immediate)
            throws FabricException, InterruptedIOException {
        RemoteBounds.check(0, PreparedRequest.totalLength(local), remote);
        return post(
                operation,
                local,
                request -> {
                    request.remote(remote.address(), remote.key());
                    if (operation == Operation.WRITE_WITH_IMMEDIATE) {
                        request.immediate(immediate);
                    }
                });
    }

    private Transfer atomic(
            Operation operation,
            MemorySlice result,
            RemoteMemory remote,
            long compareOrAdd,
            long swap)
            throws FabricException, InterruptedIOException {
        RemoteBounds.checkAtomicResult(result.length());
        RemoteBounds.checkAtomicTarget(0, remote);
        return post(
                operation,
                List.of(result),
                request -> {
                    request.atomic(remote.address(), remote.key());
                    request.operands(compareOrAdd, swap);
                });
    }

    /** Fills in what one kind of request has and others have not. */
    @FunctionalInterface
    private interface Filler {
        void fill(WorkRequest.Send request);
    }

    private Transfer post(Operation operation, List<MemorySlice> local, Filler filler)
            throws FabricException, InterruptedIOException {
        if (!takesSends()) {
            throw wrongState(
                    "ibv_post_send",
                    "requests to send are taken from READY_TO_SEND on; connect it first");
        }
        return submit(
                sends,
                operation.name(),
                local,
                sendRequest,
                () -> {
                    sendRequest.operation(operation);
                    sendRequest.flags(
                            Send.SIGNALED | (fitsInline(operation, local) ? Send.INLINE : 0));
                    filler.fill(sendRequest);
                });
    }

    private boolean fitsInline(Operation operation, List<MemorySlice> local) {
        return switch (operation) {
            case SEND, SEND_WITH_IMMEDIATE, WRITE, WRITE_WITH_IMMEDIATE ->
                    PreparedRequest.totalLength(local) <= inlineBytes();
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD -> false;
        };
    }

    @Override
    int outstanding() {
        return sends.queue.outstanding() + receives.queue.outstanding();
    }

    private Transfer submit(
            Direction direction,
            String operation,
            List<MemorySlice> local,
            WorkRequest request,
            Runnable filler)
            throws FabricException, InterruptedIOException {
        if (local.size() > request.maxElements()) {
            throw new IllegalArgumentException(
                    "%s takes %d pieces of memory at most, not %d"
                            .formatted(this, request.maxElements(), local.size()));
        }
        if (draining.get() > 0) {
            throw wrongState(direction.function, "it is being drained, and takes no more requests");
        }
        var queue = direction.queue;
        queue.awaitSlot(Deadline.after(slotTimeout), direction.name);
        var posted = false;
        try {
            var transfer = new Transfer(toString(), operation);
            post(direction, local, request, filler, transfer);
            posted = true;
            return transfer;
        } finally {
            if (!posted) {
                queue.returnSlot();
            }
        }
    }

    /**
     * Holds everything that the post uses, and writes the one request of this direction under its
     * lock.
     */
    private void post(
            Direction direction,
            List<MemorySlice> local,
            WorkRequest request,
            Runnable filler,
            Transfer transfer)
            throws VerbsException {
        var queue = direction.queue;
        var used = lifetimes(local);
        queue.lock.lock(); // before holding: close() waits for holds, and must not wait for this
        try {
            Lifetime.holdAll(used);
            try {
                postHeld(direction, local, request, filler, transfer);
            } finally {
                used.forEach(Lifetime::release);
            }
        } finally {
            queue.lock.unlock();
        }
    }

    private void postHeld(
            Direction direction,
            List<MemorySlice> local,
            WorkRequest request,
            Runnable filler,
            Transfer transfer)
            throws VerbsException {
        var queue = direction.queue;
        try {
            filler.run();
            PreparedRequest.writePieces(request, local);
            var position = queue.nextPosition();
            request.number(queue.requestNumber(position));
            queue.remember(position, transfer);
            queue.take(1);
            var hotPath = device().hotPath();
            var errno =
                    request instanceof WorkRequest.Send
                            ? hotPath.postSend(
                                    nativeAddress(), request.address(), request.refusedAddress())
                            : hotPath.postReceive(
                                    nativeAddress(), request.address(), request.refusedAddress());
            if (errno != 0) {
                queue.giveBack(1);
                queue.forget(position);
                throw new PostException(direction.function, "on the " + direction.name, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(request);
        }
    }

    private List<Lifetime> lifetimes(List<MemorySlice> local) {
        var lifetimes = new ArrayList<Lifetime>(local.size() + 1);
        lifetimes.add(ownLifetime());
        local.forEach(piece -> lifetimes.add(piece.region().ownLifetime()));
        return lifetimes;
    }
}
