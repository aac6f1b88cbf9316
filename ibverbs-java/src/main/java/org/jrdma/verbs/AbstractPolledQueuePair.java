package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jrdma.verbs.queue.NativeSharedReceiveQueue;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;
import org.jrdma.verbs.queue.QueuePairConfig;
import org.jrdma.verbs.queue.QueuePairCreation;
import org.jspecify.annotations.Nullable;

/** The base class of polled queue pairs of all types. */
abstract sealed class AbstractPolledQueuePair extends QueuePair
        permits PolledQueuePair, PolledDatagramQueuePair, PolledRawQueuePair {

    private final ProtectionDomain domain;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final PostTarget<PolledWorkQueueSlots> sends;
    private final PostTarget<PolledWorkQueueSlots> receives;

    /** The constructor parameters that all types of polled queue pairs share. */
    record Parameters(
            ProtectionDomain domain,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePairConfig config,
            @Nullable SharedReceiveQueue shared) {

        private NativeQueuePair create(PolledWorkQueueSlots sends, PolledWorkQueueSlots receives)
                throws VerbsException {
            return QueuePairCreation.create(
                    domain.domainHandle(),
                    config,
                    sendCompletions.nativeQueue(),
                    sends,
                    receiveCompletions.nativeQueue(),
                    receives,
                    sharedNative(),
                    () -> {});
        }

        private @Nullable NativeSharedReceiveQueue<PolledWorkQueueSlots> sharedNative() {
            return switch (shared) {
                case null -> null;
                case PolledSharedReceiveQueue polled -> polled.nativeQueue();
                default ->
                        throw new IllegalArgumentException(
                                "The %s completes into dispatchers and cannot serve a polled queue pair. Create a polled one with newPolledSharedReceiveQueue()."
                                        .formatted(shared));
            };
        }
    }

    AbstractPolledQueuePair(Parameters parameters) throws VerbsException {
        this(
                parameters,
                new PolledWorkQueueSlots(parameters.config.sends()),
                new PolledWorkQueueSlots(
                        parameters.config.receives(),
                        parameters.config.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private AbstractPolledQueuePair(
            Parameters parameters, PolledWorkQueueSlots sends, PolledWorkQueueSlots receives)
            throws VerbsException {
        super(parameters.create(sends, receives), parameters.shared);
        this.domain = parameters.domain;
        this.sendCompletions = parameters.sendCompletions;
        this.receiveCompletions = parameters.receiveCompletions;
        this.sends =
                PostTarget.to(
                        this,
                        queuePair(),
                        sends,
                        parameters.config.sendElements(),
                        "requests to send");
        this.receives =
                PostTarget.to(
                        this,
                        queuePair(),
                        receives,
                        parameters.config.receiveElements(),
                        "receives");
    }

    /** The protection domain that owns this queue pair. */
    public final ProtectionDomain domain() {
        return domain;
    }

    final DomainHandle domainHandle() {
        return queuePair().domain();
    }

    /**
     * Prepares a chain of requests, which a single call posts. All requests must be for the same
     * queue.
     */
    public final PreparedRequest.Chain prepareChain(PreparedRequest<?>... requests) {
        return new PreparedRequest.Chain(requests);
    }

    /**
     * Prepares a receive request.
     *
     * @throws UnsupportedOperationException if this queue pair uses a shared receive queue or
     *     cannot receive
     */
    public final PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /**
     * Prepares a receive request that scatters the message to several slices. With an empty list,
     * the request can only receive the notification of a write with immediate data.
     *
     * @throws UnsupportedOperationException if this queue pair uses a shared receive queue or
     *     cannot receive
     */
    public final PreparedReceive prepareReceive(List<MemorySlice> local) {
        checkHasOwnReceives();
        return new PreparedReceive(receives, local);
    }

    /**
     * The number of free slots of the send queue. Only the thread that posts to the send queue may
     * call this method.
     */
    public final int freeSends() {
        return sends.queue().freeSlots();
    }

    /**
     * The number of free slots of the receive queue. Only the thread that posts to the receive
     * queue may call this method.
     */
    public final int freeReceives() {
        return receives.queue().freeSlots();
    }

    /** The send queue, to which prepared requests are posted. */
    final PostTarget<PolledWorkQueueSlots> sends() {
        return sends;
    }

    /**
     * Moves the queue pair to the error state and waits until all posted requests have completed.
     * After this method has returned, the adapter no longer accesses memory on behalf of this queue
     * pair. Requests in flight complete with the status {@link CompletionStatus#FLUSHED}, although
     * the peer may have executed them.
     *
     * <p>Only the thread that posts to the send queue may call this method. The method waits by
     * polling, so the completion queue need not be {@linkplain CompletionQueueOptions#waitable
     * waitable}.
     *
     * @param cursor a cursor that the calling thread created for the completion queue, which must
     *     be the same for sends and receives
     * @param handler the consumer of each completion that arrives meanwhile, including completions
     *     of other queue pairs
     * @throws org.jrdma.ffi.FabricTimeoutException if some requests have not completed when the
     *     timeout expires
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public final void drain(
            CompletionCursor cursor, Duration timeout, Consumer<CompletionCursor> handler)
            throws FabricException, InterruptedIOException {
        var queue = sends.queueForCurrentThread();
        if (!cursor.isOver(sendCompletions) || !cursor.isOver(receiveCompletions)) {
            throw new IllegalArgumentException(
                    "The cursor must poll the completion queue of both the sends and the receives"
                            + " of "
                            + this);
        }
        var deadline = Deadline.after(timeout);
        modify(QueuePairChange.to(QueuePairState.ERROR));
        while (queuePair().outstanding() > 0) {
            if (queue.outstanding() > 0 && !queue.hasMarker()) {
                tryPostMarker(queue);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("Interrupted while draining " + this);
            }
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        "%s did not drain; %d requests are still in flight"
                                .formatted(this, queuePair().outstanding()));
            }
            if (cursor.poll() == 0) {
                LockSupport.parkNanos(20_000);
            }
            while (cursor.next()) {
                handler.accept(cursor);
            }
        }
    }

    /**
     * Posts a marker request, whose flushed completion proves that all earlier requests have
     * completed. Without the marker, the drain could not detect that unsignaled requests have
     * succeeded, because these generate no completions. The marker uses an extra slot of the send
     * queue and a spare entry of the completion queue.
     */
    private void tryPostMarker(PolledWorkQueueSlots queue) throws VerbsException {
        var spare = sendCompletions.nativeQueue().reservations();
        // The lifetime is held before the completion queue entry is reserved, because close()
        // releases the entry.
        try (var _ = lifetime().held()) {
            if (spare.reserveMarkerSlot(queue)) {
                var posted = false;
                try {
                    postMarker(queue);
                    posted = true;
                } finally {
                    if (!posted) {
                        spare.releaseMarkerSlot(queue);
                    }
                }
            }
        }
    }

    private void postMarker(PolledWorkQueueSlots queue) throws VerbsException {
        var marker = new WorkRequest.Send(1);
        marker.operation(WorkRequest.Operation.SEND);
        addressMarker(marker);
        marker.flags(WorkRequest.Send.SIGNALED);
        sends.hotPath().ensureStack();
        marker.number(queue.requestNumber(queue.takeMarkerSlot()));
        try {
            var errno =
                    sends.hotPath()
                            .postSend(sends.address(), marker.address(), marker.refusedAddress());
            // rxe reports the failure of its doorbell although it has queued the request, which
            // then completes.
            if (errno != 0 && marker.takeRefused() != 0) {
                queue.undoTake(1);
                queue.clearMarker();
                throw new PostException(
                        queuePair().postFunction(), "for the marker that drains " + this, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(marker);
        }
    }

    /**
     * Sets the destination of the marker. The marker is never sent, but some providers read its
     * destination when it is posted.
     */
    abstract void addressMarker(WorkRequest.Send marker) throws VerbsException;
}
