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
import org.jrdma.verbs.queue.AsyncWorkQueue;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.QueuePairConfig;
import org.jrdma.verbs.queue.QueuePairCreation;
import org.jrdma.verbs.queue.RequestWriter;
import org.jspecify.annotations.Nullable;

/** What queue pairs whose operations are awaited have in common, connected or not. */
abstract sealed class AsyncEnd extends QueuePair
        permits AsyncQueuePair, AsyncDatagramQueuePair, AsyncRawQueuePair {

    /** For requests that use only memory regions. */
    private static final Lifetime[] NONE = {};

    private final ProtectionDomain domain;
    private final AsyncWorkQueue sends;
    private final AsyncWorkQueue receives;
    private final AsyncPoster<WorkRequest.Send> sender;
    private final AsyncPoster<WorkRequest.Receive> receiver;

    /** Kept reachable as long as this is. */
    @SuppressWarnings("unused")
    private final CompletionDispatcher completions;

    /** How many threads drain it. */
    private final AtomicInteger draining = new AtomicInteger();

    /** How a queue pair is made whose operations are awaited. */
    record Making(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairConfig config,
            @Nullable SharedReceiveQueue shared) {

        private NativeQueuePair make(AsyncWorkQueue sends, AsyncWorkQueue receives)
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

        private @Nullable NativeSharedReceiveQueue<AsyncWorkQueue> sharedNative() {
            return switch (shared) {
                case null -> null;
                case AsyncSharedReceiveQueue awaited -> awaited.nativeQueue();
                default ->
                        throw new IllegalArgumentException(
                                "The receives of the %s are polled for, and cannot be those of a queue pair with a dispatcher; newAsyncSharedReceiveQueue() makes one for it"
                                        .formatted(shared));
            };
        }
    }

    AsyncEnd(Making making) throws VerbsException {
        this(
                making,
                new AsyncWorkQueue(making.config.sends()),
                new AsyncWorkQueue(
                        making.config.receives(),
                        making.config.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private AsyncEnd(Making making, AsyncWorkQueue sends, AsyncWorkQueue receives)
            throws VerbsException {
        super(making.make(sends, receives), making.shared);
        this.domain = making.domain;
        this.completions = making.completions;
        this.sends = sends;
        this.receives = receives;
        this.sender =
                new AsyncPoster<>(
                        target(
                                AsyncPoster.Function.SEND,
                                making.config.postFunction(),
                                sendQueue(),
                                making.config.slotTimeout()),
                        sends,
                        new WorkRequest.Send(making.config.sendElements()));
        this.receiver =
                new AsyncPoster<>(
                        target(
                                AsyncPoster.Function.RECEIVE,
                                "ibv_post_recv",
                                receiveQueue(),
                                making.config.slotTimeout()),
                        receives,
                        new WorkRequest.Receive(making.config.receiveElements()));
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

    /** The protection domain that it belongs to. */
    public final ProtectionDomain domain() {
        return domain;
    }

    /**
     * Receives a message. Its completion says how long it was. In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if it cannot be posted
     * @throws UnsupportedOperationException if it receives from a shared queue, or not at all
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to be notified of a write with immediate data. */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        refuseIfShared();
        queuePair().checkTakesReceives("ibv_post_recv");
        refuseIfDraining("ibv_post_recv");
        receiver.begin("RECEIVE", local);
        try {
            return new Transfer(receiver.post());
        } finally {
            receiver.end();
        }
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
        draining.incrementAndGet(); // with posts meanwhile, the wait might never end
        try {
            modify(QueuePairChange.to(QueuePairState.ERROR));
            sends.awaitAllFree(deadline, sendQueue());
            receives.awaitAllFree(deadline, receiveQueue());
        } finally {
            draining.decrementAndGet();
        }
    }

    private void refuseIfDraining(String function) throws VerbsException {
        if (draining.get() > 0) {
            throw queuePair()
                    .wrongState(function, "it is being drained, and takes no more requests");
        }
    }

    /** Posts requests that were begun. */
    final AsyncPoster<WorkRequest.Send> sender() {
        return sender;
    }

    /** Begins the post of a request to send that uses only memory regions. */
    final WorkRequest.Send begin(Operation operation, List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        return begin(operation, local, NONE);
    }

    /**
     * Begins the post of a request to send, to read or to write; {@link AsyncPoster#end} must
     * follow. May wait for a free slot.
     *
     * @param usedBeside the lifetimes of other objects that the request uses
     */
    final WorkRequest.Send begin(
            Operation operation, List<MemorySlice> local, Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        queuePair().checkTakesSends();
        refuseIfDraining(queuePair().postFunction());
        var flags = Send.SIGNALED | (fitsInline(operation, local) ? Send.INLINE : 0);
        var request = sender.begin(operation.name(), local, usedBeside);
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
