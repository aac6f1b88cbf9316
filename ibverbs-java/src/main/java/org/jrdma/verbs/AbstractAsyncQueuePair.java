package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.AsyncPoster;
import org.jrdma.verbs.queue.AsyncWorkQueueSlots;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.QueuePairConfig;
import org.jrdma.verbs.queue.QueuePairCreation;
import org.jrdma.verbs.queue.RequestWriter;
import org.jspecify.annotations.Nullable;

/** The base class of asynchronous queue pairs of all types. */
abstract sealed class AbstractAsyncQueuePair extends QueuePair
        permits AsyncQueuePair, AsyncDatagramQueuePair, AsyncRawQueuePair {

    private final ProtectionDomain domain;
    private final AsyncWorkQueueSlots sends;
    private final AsyncWorkQueueSlots receives;
    private final AsyncPoster<WorkRequest.Send> sender;
    private final AsyncPoster<WorkRequest.Receive> receiver;

    /**
     * Keeps the dispatcher reachable while this queue pair is open: an open dispatcher that becomes
     * unreachable would be reported as a leak.
     */
    @SuppressWarnings("unused")
    private final CompletionDispatcher completions;

    /** The number of threads that are executing {@link #drain}. */
    private final AtomicInteger draining = new AtomicInteger();

    /** The constructor parameters that all types of asynchronous queue pairs share. */
    record Parameters(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairConfig config,
            @Nullable SharedReceiveQueue shared) {

        private NativeQueuePair create(AsyncWorkQueueSlots sends, AsyncWorkQueueSlots receives)
                throws VerbsException {
            return QueuePairCreation.create(
                    domain.domainHandle(),
                    config,
                    completions.nativeQueue(),
                    sends,
                    completions.nativeQueue(),
                    receives,
                    sharedNative(),
                    () -> {
                        sends.abandon();
                        receives.abandon();
                    });
        }

        private @Nullable NativeSharedReceiveQueue<AsyncWorkQueueSlots> sharedNative() {
            return switch (shared) {
                case null -> null;
                case AsyncSharedReceiveQueue async -> async.nativeQueue();
                default ->
                        throw new IllegalArgumentException(
                                "The %s is polled and cannot serve a queue pair that completes into a dispatcher. Create an asynchronous one with newAsyncSharedReceiveQueue()."
                                        .formatted(shared));
            };
        }
    }

    AbstractAsyncQueuePair(Parameters parameters) throws VerbsException {
        this(
                parameters,
                new AsyncWorkQueueSlots(parameters.config.sends()),
                new AsyncWorkQueueSlots(
                        parameters.config.receives(),
                        parameters.config.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private AbstractAsyncQueuePair(
            Parameters parameters, AsyncWorkQueueSlots sends, AsyncWorkQueueSlots receives)
            throws VerbsException {
        super(parameters.create(sends, receives), parameters.shared);
        this.domain = parameters.domain;
        this.completions = parameters.completions;
        this.sends = sends;
        this.receives = receives;
        this.sender =
                new AsyncPoster<>(
                        target(
                                AsyncPoster.Function.SEND,
                                parameters.config.postFunction(),
                                sendQueue(),
                                parameters.config.slotTimeout()),
                        sends,
                        new WorkRequest.Send(parameters.config.sendElements()));
        this.receiver =
                new AsyncPoster<>(
                        target(
                                AsyncPoster.Function.RECEIVE,
                                "ibv_post_recv",
                                receiveQueue(),
                                parameters.config.slotTimeout()),
                        receives,
                        new WorkRequest.Receive(parameters.config.receiveElements()));
    }

    private AsyncPoster.Target target(
            AsyncPoster.Function function, String functionName, String name, Duration timeout) {
        return new AsyncPoster.Target(
                lifetime(),
                queuePair().address().address(),
                queuePair().hotPath(),
                function,
                functionName,
                name,
                timeout);
    }

    private String sendQueue() {
        return "send queue of " + this;
    }

    private String receiveQueue() {
        return "receive queue of " + this;
    }

    /** The protection domain that owns this queue pair. */
    public final ProtectionDomain domain() {
        return domain;
    }

    /**
     * Posts a receive request for one message. The completion contains the length of the message.
     * In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if the request cannot be posted
     * @throws UnsupportedOperationException if this queue pair uses a shared receive queue or
     *     cannot receive
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /**
     * Posts a receive request that scatters the message to several slices. With an empty list, the
     * request can only receive the notification of a write with immediate data.
     */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        checkHasOwnReceives();
        queuePair().checkCanReceive("ibv_post_recv");
        checkNotDraining("ibv_post_recv");
        receiver.begin("RECEIVE", local);
        try {
            return new Transfer(receiver.post());
        } finally {
            receiver.end();
        }
    }

    /**
     * Moves the queue pair to the error state and waits until every transfer has completed. Most
     * transfers then complete with the status {@link CompletionStatus#FLUSHED}. After this method
     * has returned, the adapter no longer accesses memory on behalf of this queue pair.
     *
     * @throws org.jrdma.ffi.FabricTimeoutException if some transfers have not completed when the
     *     timeout expires
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public final void drain(Duration timeout) throws FabricException, InterruptedIOException {
        var deadline = Deadline.after(timeout);
        // New posts are rejected, because they could prolong the wait without limit.
        draining.incrementAndGet();
        try {
            modify(QueuePairChange.to(QueuePairState.ERROR));
            sends.awaitDrained(deadline, sendQueue());
            receives.awaitDrained(deadline, receiveQueue());
        } finally {
            draining.decrementAndGet();
        }
    }

    private void checkNotDraining(String function) throws VerbsException {
        if (draining.get() > 0) {
            throw queuePair().wrongState(function, "it is being drained and accepts no requests");
        }
    }

    /** The object that posts to the send queue. {@link #begin} describes the order of calls. */
    final AsyncPoster<WorkRequest.Send> sender() {
        return sender;
    }

    /** Begins to post a request that uses no native objects except memory regions. */
    final WorkRequest.Send begin(Operation operation, List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        return begin(operation, local, AsyncPoster.NO_LIFETIMES);
    }

    /**
     * Begins to post a request to the send queue. The caller fills in the returned request, calls
     * {@link AsyncPoster#post}, and then always calls {@link AsyncPoster#end} in a finally block.
     * This method waits for a free slot if the queue is full. It acquires the lock of the send
     * queue, which {@code end} releases.
     *
     * @param additionalLifetimes the lifetimes of the objects that the request uses, except for
     *     those of memory regions
     */
    final WorkRequest.Send begin(
            Operation operation, List<MemorySlice> local, Lifetime... additionalLifetimes)
            throws FabricException, InterruptedIOException {
        queuePair().checkCanSend();
        checkNotDraining(queuePair().postFunction());
        var flags = Send.SIGNALED | (fitsInline(operation, local) ? Send.INLINE : 0);
        var request = sender.begin(operation.name(), local, additionalLifetimes);
        request.operation(operation);
        request.flags(flags);
        return request;
    }

    private boolean fitsInline(Operation operation, List<MemorySlice> local) {
        return switch (operation) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, WRITE, WRITE_WITH_IMMEDIATE ->
                    RequestWriter.totalLength(local) <= inlineBytes()
                            && RequestWriter.areInPlace(local);
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD, ATOMIC_WRITE, FLUSH, BIND, INVALIDATE ->
                    false;
        };
    }
}
