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
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/** What queue pairs whose operations are awaited have in common: that they send. */
abstract sealed class AsyncEnd extends QueuePair permits AsyncTwoWayEnd, AsyncXrcSendQueuePair {

    private final AsyncWorkQueue sends;
    private final AsyncPoster<WorkRequest.Send> sender;

    /** In use as long as this is. */
    @SuppressWarnings("unused")
    private final CompletionDispatcher completions;

    /** How many threads drain it. */
    private final AtomicInteger draining = new AtomicInteger();

    AsyncEnd(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<?> options,
            AsyncWorkQueue sends,
            Made made) {
        super(domain, made, options);
        this.sends = sends;
        this.sender =
                new AsyncPoster<>(
                        target(postFunction(), AsyncEnd::postSend, sendQueue(), options),
                        sends,
                        new WorkRequest.Send(options.sendElements()));
        this.completions = completions;
    }

    /** The domain it belongs to. */
    public final ProtectionDomain domain() {
        return protection();
    }

    final <R> AsyncPoster.Target<R> target(
            String function, AsyncPoster.Call<R> call, String name, QueuePairOptions<?> options) {
        return new AsyncPoster.Target<>(
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

    private String sendQueue() {
        return "send queue of " + this;
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
            awaitOthers(deadline);
        } finally {
            draining.decrementAndGet();
        }
    }

    /** Waits until nothing besides sends is under way. */
    void awaitOthers(Deadline deadline) throws FabricException, InterruptedIOException {
        // nothing else is here
    }

    final void refuseIfDraining(String function) throws VerbsException {
        if (draining.get() > 0) {
            throw wrongState(function, "it is being drained, and takes no more requests");
        }
    }

    /** Posts a request to send, to read or to write. */
    final Transfer post(
            Operation operation,
            List<MemorySlice> local,
            AsyncPoster.Filler<WorkRequest.Send> filler,
            Lifetime... usedBeside)
            throws FabricException, InterruptedIOException {
        return post(operation, AsyncEnd::postSend, local, filler, usedBeside);
    }

    /** As the other, by another function. */
    final Transfer post(
            Operation operation,
            AsyncPoster.Call<? super WorkRequest.Send> call,
            List<MemorySlice> local,
            AsyncPoster.Filler<WorkRequest.Send> filler,
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

    /** Posts a read or a write; over an extended connection, for a receive queue. */
    final Transfer transfer(
            Operation operation,
            List<MemorySlice> local,
            RemoteMemory remote,
            int immediate,
            int receiveQueue)
            throws FabricException, InterruptedIOException {
        RemoteBounds.check(0, PreparedRequest.totalLength(local), remote);
        return post(
                operation,
                local,
                request -> {
                    request.remote(remote.address(), remote.key());
                    request.receiveQueue(receiveQueue);
                    if (operation == Operation.WRITE_WITH_IMMEDIATE) {
                        request.immediate(immediate);
                    }
                });
    }

    /** Posts an atomic; over an extended connection, for a receive queue. */
    final Transfer atomic(
            Operation operation,
            MemorySlice result,
            RemoteMemory remote,
            long compareOrAdd,
            long swap,
            int receiveQueue)
            throws FabricException, InterruptedIOException {
        RemoteBounds.checkAtomicResult(result.length());
        RemoteBounds.checkAtomicTarget(0, remote);
        return post(
                operation,
                List.of(result),
                request -> {
                    request.atomic(remote.address(), remote.key());
                    request.operands(compareOrAdd, swap);
                    request.receiveQueue(receiveQueue);
                });
    }

    @Override
    int outstanding() {
        return sends.outstanding();
    }
}
