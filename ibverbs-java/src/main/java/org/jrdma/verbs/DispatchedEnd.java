package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jspecify.annotations.Nullable;

/** What queue pairs whose operations are awaited have in common, connected or not. */
abstract sealed class DispatchedEnd extends QueuePair
        permits DispatchedQueuePair, DispatchedDatagramQueuePair, DispatchedRawQueuePair {

    private final DispatchedWorkQueue sends;
    private final DispatchedWorkQueue receives;
    private final DispatchedPoster<WorkRequest.Send> sender;
    private final DispatchedPoster<WorkRequest.Receive> receiver;

    /** In use as long as this is. */
    @SuppressWarnings("unused")
    private final CompletionDispatcher completions;

    /** How many threads drain it. */
    private final AtomicInteger draining = new AtomicInteger();

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
                        sharing(options),
                        options,
                        () -> {
                            sends.abandon();
                            receives.abandon();
                        }),
                options);
        this.sends = sends;
        this.receives = receives;
        this.sender =
                new DispatchedPoster<>(
                        target(postFunction(), DispatchedEnd::postSend, sendQueue(), options),
                        sends,
                        new WorkRequest.Send(options.sendElements()));
        this.receiver =
                new DispatchedPoster<>(
                        target(
                                "ibv_post_recv",
                                DispatchedEnd::postReceive,
                                receiveQueue(),
                                options),
                        receives,
                        new WorkRequest.Receive(options.receiveElements()));
        this.completions = completions;
    }

    private static @Nullable Sharing<DispatchedWorkQueue> sharing(QueuePairOptions<?> options) {
        return switch (options.sharedReceives()) {
            case null -> null;
            case DispatchedSharedReceiveQueue awaited -> awaited.sharing();
            case PolledSharedReceiveQueue polled ->
                    throw new IllegalArgumentException(
                            "The receives of the %s are polled for, and cannot be those of a queue pair with a dispatcher; newDispatchedSharedReceiveQueue() makes one for it"
                                    .formatted(polled));
        };
    }

    private <R> DispatchedPoster.Target<R> target(
            String function,
            DispatchedPoster.Call<R> call,
            String name,
            QueuePairOptions<?> options) {
        return new DispatchedPoster.Target<>(
                ownLifetime(),
                nativeAddress(),
                hotPath(),
                function,
                call,
                name,
                options.slotTimeout());
    }

    private static int postSend(HotPath hotPath, long queuePair, WorkRequest request) {
        return hotPath.postSend(queuePair, request.address(), request.refusedAddress());
    }

    private static int postReceive(HotPath hotPath, long queuePair, WorkRequest request) {
        return hotPath.postReceive(queuePair, request.address(), request.refusedAddress());
    }

    private String sendQueue() {
        return "send queue of " + this;
    }

    private String receiveQueue() {
        return "receive queue of " + this;
    }

    /**
     * Receives a message. Its completion says how long it was. In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if it cannot be posted
     * @throws UnsupportedOperationException if it has its receives from a shared queue
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to hear of a write with immediate data. */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        refuseIfShared();
        if (!takesReceives()) {
            throw wrongState("ibv_post_recv", "receives are taken from INIT on");
        }
        refuseIfDraining("ibv_post_recv");
        return receiver.submit("RECEIVE", local, _ -> {});
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
            sends.awaitAllFree(deadline, sendQueue());
            receives.awaitAllFree(deadline, receiveQueue());
        } finally {
            draining.decrementAndGet();
        }
    }

    private void refuseIfDraining(String function) throws VerbsException {
        if (draining.get() > 0) {
            throw wrongState(function, "it is being drained, and takes no more requests");
        }
    }

    /** Posts a request to send, to read or to write. */
    final Transfer post(
            Operation operation,
            List<MemorySlice> local,
            DispatchedPoster.Filler<WorkRequest.Send> filler,
            Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        return post(operation, DispatchedEnd::postSend, local, filler, usedBeside);
    }

    /** As the other, by another function. */
    final Transfer post(
            Operation operation,
            DispatchedPoster.Call<? super WorkRequest.Send> call,
            List<MemorySlice> local,
            DispatchedPoster.Filler<WorkRequest.Send> filler,
            Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        if (!takesSends()) {
            throw wrongState(
                    postFunction(),
                    "requests to send are taken from READY_TO_SEND on; connect it first");
        }
        refuseIfDraining(postFunction());
        return sender.submit(
                operation.name(),
                call,
                local,
                request -> {
                    request.operation(operation);
                    request.flags(Send.SIGNALED | (fitsInline(operation, local) ? Send.INLINE : 0));
                    filler.fill(request);
                },
                usedBeside);
    }

    private boolean fitsInline(Operation operation, List<MemorySlice> local) {
        return switch (operation) {
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, WRITE, WRITE_WITH_IMMEDIATE ->
                    PreparedRequest.totalLength(local) <= inlineBytes()
                            && PreparedRequest.areInPlace(local);
            case READ, COMPARE_AND_SWAP, FETCH_AND_ADD, ATOMIC_WRITE, FLUSH, BIND, INVALIDATE ->
                    false;
        };
    }

    @Override
    final int outstanding() {
        return sends.outstanding() + receives.outstanding();
    }
}
