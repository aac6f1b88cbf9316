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

/** What queue pairs whose operations are awaited have in common, connected or not. */
abstract sealed class DispatchedEnd extends QueuePair
        permits DispatchedQueuePair, DispatchedDatagramQueuePair {

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

    DispatchedEnd(
            ProtectionDomain domain, CompletionDispatcher completions, QueuePairOptions<?> options)
            throws VerbsException {
        this(
                domain,
                completions,
                options,
                new DispatchedWorkQueue(options.sends()),
                new DispatchedWorkQueue(
                        options.receives(), options.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private DispatchedEnd(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<?> options,
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
                        null,
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
     * Receives a message. Its completion says how long it was. In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if it cannot be posted
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to hear of a write with immediate data. */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        if (!takesReceives()) {
            throw wrongState("ibv_post_recv", "receives are taken from INIT on");
        }
        return submit(receives, "RECEIVE", local, lifetimes(local), receiveRequest, () -> {});
    }

    /**
     * Puts the queue pair into the error state and waits until every transfer has been completed,
     * most as {@link CompletionStatus#FLUSHED}, so that the adapter no longer uses any memory for
     * it.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public final void drain(Duration timeout) throws FabricException, InterruptedIOException {
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

    /** Fills in what one kind of request has and others have not. */
    @FunctionalInterface
    interface Filler {
        void fill(WorkRequest.Send request);
    }

    /** Posts a request to send, to read or to write. */
    final Transfer post(
            Operation operation, List<MemorySlice> local, Filler filler, Lifetime... usedBeside)
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
                lifetimes(local, usedBeside),
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
    final int outstanding() {
        return sends.queue.outstanding() + receives.queue.outstanding();
    }

    private Transfer submit(
            Direction direction,
            String operation,
            List<MemorySlice> local,
            List<Lifetime> used,
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
            post(direction, local, used, request, filler, transfer);
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
            List<Lifetime> used,
            WorkRequest request,
            Runnable filler,
            Transfer transfer)
            throws FabricException {
        var queue = direction.queue;
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
            throws FabricException {
        var queue = direction.queue;
        try {
            queue.refuseIfFailed();
            filler.run();
            PreparedRequest.writePieces(request, local);
            var position = queue.nextPosition();
            request.number(queue.requestNumber(position));
            var hotPath = device().hotPath();
            hotPath.makeRoom();
            queue.remember(position, transfer);
            queue.take(1);
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

    private List<Lifetime> lifetimes(List<MemorySlice> local, Lifetime... usedBeside) {
        var lifetimes = new ArrayList<Lifetime>(local.size() + 1 + usedBeside.length);
        lifetimes.add(ownLifetime());
        lifetimes.addAll(List.of(usedBeside));
        local.forEach(piece -> lifetimes.add(piece.region().ownLifetime()));
        return lifetimes;
    }
}
