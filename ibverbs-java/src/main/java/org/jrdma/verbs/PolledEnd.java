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
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;
import org.jrdma.verbs.queue.QueuePairConfig;
import org.jrdma.verbs.queue.QueuePairCreation;
import org.jspecify.annotations.Nullable;

/** What polled queue pairs have in common, connected or not. */
abstract sealed class PolledEnd extends QueuePair
        permits PolledQueuePair, PolledDatagramQueuePair, PolledRawQueuePair {

    private final ProtectionDomain domain;
    private final CompletionQueue ofSends;
    private final CompletionQueue ofReceives;
    private final PolledPost<PolledWorkQueue> sends;
    private final PolledPost<PolledWorkQueue> receives;

    /** How a polled queue pair is made. */
    record Making(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairConfig config,
            @Nullable SharedReceiveQueue shared) {

        private NativeQueuePair make(PolledWorkQueue sends, PolledWorkQueue receives)
                throws VerbsException {
            return QueuePairCreation.create(
                    domain.domainHandle(),
                    config,
                    ofSends.nativeQueue(),
                    sends,
                    ofReceives.nativeQueue(),
                    receives,
                    sharedNative(),
                    () -> {});
        }

        private @Nullable NativeSharedReceiveQueue<PolledWorkQueue> sharedNative() {
            return switch (shared) {
                case null -> null;
                case PolledSharedReceiveQueue polled -> polled.nativeQueue();
                default ->
                        throw new IllegalArgumentException(
                                "The receives of the %s are awaited, and cannot be those of a queue pair that is polled; newSharedReceiveQueue() makes one for it"
                                        .formatted(shared));
            };
        }
    }

    PolledEnd(Making making) throws VerbsException {
        this(
                making,
                new PolledWorkQueue(making.config.sends()),
                new PolledWorkQueue(
                        making.config.receives(),
                        making.config.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private PolledEnd(Making making, PolledWorkQueue sends, PolledWorkQueue receives)
            throws VerbsException {
        super(making.make(sends, receives), making.shared);
        this.domain = making.domain;
        this.ofSends = making.ofSends;
        this.ofReceives = making.ofReceives;
        this.sends =
                PolledPost.to(
                        this, queuePair(), sends, making.config.sendElements(), "requests to send");
        this.receives =
                PolledPost.to(
                        this, queuePair(), receives, making.config.receiveElements(), "receives");
    }

    /** The protection domain that it belongs to. */
    public final ProtectionDomain domain() {
        return domain;
    }

    final DomainHandle domainHandle() {
        return queuePair().domain();
    }

    /** Requests to be posted by one call: all to send, or all receives. */
    public final PreparedRequest.Chain prepareChain(PreparedRequest<?>... requests) {
        return new PreparedRequest.Chain(requests);
    }

    /**
     * A place to receive a message into.
     *
     * @throws UnsupportedOperationException if it receives from a shared queue, or not at all
     */
    public final PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /**
     * Places to receive a message into; none, to be notified of a write with immediate data.
     *
     * @throws UnsupportedOperationException if it receives from a shared queue, or not at all
     */
    public final PreparedReceive prepareReceive(List<MemorySlice> local) {
        refuseIfShared();
        return new PreparedReceive(receives, local);
    }

    /** How many requests to send can be posted now. For the thread that posts them. */
    public final int freeSends() {
        return sends.queue().freeSlots();
    }

    /** How many receives can be posted now. For the thread that posts them. */
    public final int freeReceives() {
        return receives.queue().freeSlots();
    }

    /** The target of requests to send. */
    final PolledPost<PolledWorkQueue> sends() {
        return sends;
    }

    /**
     * Puts the queue pair into the error state and waits until everything posted to it has come out
     * of the completion queue, so that the adapter no longer uses any memory for it. Requests that
     * were in flight are completed as {@link CompletionStatus#FLUSHED}; those that the peer has
     * seen may have been executed nevertheless.
     *
     * <p>For the thread that posts to send. Waits by polling, so the queue need not be waitable.
     *
     * @param cursor a cursor of this thread over the completion queue, which must be that of both
     *     directions
     * @param handler gets each completion that comes meanwhile, including those of other queue
     *     pairs
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public final void drain(
            CompletionCursor cursor, Duration timeout, Consumer<CompletionCursor> handler)
            throws FabricException, InterruptedIOException {
        var queue = sends.queueOfThisThread();
        if (!cursor.isOver(ofSends) || !cursor.isOver(ofReceives)) {
            throw new IllegalArgumentException(
                    "The cursor is not over the completion queue of both directions of " + this);
        }
        var deadline = Deadline.after(timeout);
        modify(QueuePairChange.to(QueuePairState.ERROR));
        while (queuePair().outstanding() > 0) {
            if (queue.outstanding() > 0 && !queue.hasMarker()) {
                tryPostMarker(queue);
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while draining " + this);
            }
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        "%s did not drain; %d requests are still under way"
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
     * Posts a request that shows, by being flushed, that all before it are over: those that were
     * unsignalled and succeeded have no completion of their own. It has a slot beyond those of the
     * user, and the spare place of the completion queue.
     */
    private void tryPostMarker(PolledWorkQueue queue) throws VerbsException {
        var spare = ofSends.nativeQueue().attachments();
        lifetime().hold(); // before taking the place: close() returns it
        try {
            if (spare.takeSpare(queue)) {
                var posted = false;
                try {
                    postMarker(queue);
                    posted = true;
                } finally {
                    if (!posted) {
                        spare.returnSpare(queue);
                    }
                }
            }
        } finally {
            lifetime().release();
        }
    }

    private void postMarker(PolledWorkQueue queue) throws VerbsException {
        var marker = new WorkRequest.Send(1);
        marker.operation(WorkRequest.Operation.SEND);
        direct(marker);
        marker.flags(WorkRequest.Send.SIGNALED);
        sends.hotPath().makeRoom();
        marker.number(queue.requestNumber(queue.takeForMarker()));
        try {
            var errno =
                    sends.hotPath()
                            .postSend(sends.address(), marker.address(), marker.refusedAddress());
            if (errno != 0) {
                queue.giveBack(1);
                queue.markerIsOver();
                throw new PostException(
                        queuePair().postFunction(), "for the marker that drains " + this, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(marker);
        }
    }

    /** Gives a message that is never sent what a provider reads nevertheless. */
    abstract void direct(WorkRequest.Send marker) throws VerbsException;
}
