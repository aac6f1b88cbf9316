package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair whose user prepares requests, posts them, and polls a {@link CompletionQueue}:
 * nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledQueuePair extends QueuePair {

    private final PolledWorkQueue sends;
    private final PolledWorkQueue receives;
    private final CompletionQueue ofSends;
    private final CompletionQueue ofReceives;
    private final QueuePairOptions<?> options;
    private final HotPath hotPath;
    private @Nullable Thread sender;
    private @Nullable Thread receiver;

    PolledQueuePair(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<PolledQueuePair> options)
            throws VerbsException {
        this(
                domain,
                ofSends,
                ofReceives,
                options,
                new PolledWorkQueue(options.sends()),
                new PolledWorkQueue(options.receives()));
    }

    private PolledQueuePair(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<PolledQueuePair> options,
            PolledWorkQueue sends,
            PolledWorkQueue receives)
            throws VerbsException {
        super(
                domain,
                make(domain, ofSends, ofReceives, sends, receives, options, () -> {}),
                options);
        this.sends = sends;
        this.receives = receives;
        this.ofSends = ofSends;
        this.ofReceives = ofReceives;
        this.options = options;
        this.hotPath = device().hotPath();
    }

    /** A message. */
    public PreparedSend prepareSend(MemorySlice local) {
        return prepareSend(List.of(local));
    }

    /** A message gathered from pieces. */
    public PreparedSend prepareSend(List<MemorySlice> local) {
        return new PreparedSend(this, local);
    }

    /**
     * A write of the peer's memory, at its beginning.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer
     */
    public PreparedWrite prepareWrite(MemorySlice local, RemoteMemory remote) {
        return prepareWrite(List.of(local), remote);
    }

    /**
     * A write of the peer's memory, at its beginning, gathered from pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     */
    public PreparedWrite prepareWrite(List<MemorySlice> local, RemoteMemory remote) {
        return new PreparedWrite(this, local, remote);
    }

    /**
     * A read of the peer's memory, from its beginning, as much as {@code local} holds.
     *
     * @throws IndexOutOfBoundsException if {@code local} is longer
     */
    public PreparedRead prepareRead(MemorySlice local, RemoteMemory remote) {
        return prepareRead(List.of(local), remote);
    }

    /**
     * A read of the peer's memory, from its beginning, scattered to pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     */
    public PreparedRead prepareRead(List<MemorySlice> local, RemoteMemory remote) {
        return new PreparedRead(this, local, remote);
    }

    /**
     * A compare-and-swap of the first 8 bytes of the peer's memory; the former value comes to
     * {@code result}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public PreparedCompareAndSwap prepareCompareAndSwap(MemorySlice result, RemoteMemory remote) {
        return new PreparedCompareAndSwap(this, result, remote);
    }

    /**
     * A fetch-and-add to the first 8 bytes of the peer's memory; the former value comes to {@code
     * result}.
     *
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public PreparedFetchAndAdd prepareFetchAndAdd(MemorySlice result, RemoteMemory remote) {
        return new PreparedFetchAndAdd(this, result, remote);
    }

    /** A place to receive a message into. */
    public PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /** Places to receive a message into; none, to hear of a write with immediate data. */
    public PreparedReceive prepareReceive(List<MemorySlice> local) {
        return new PreparedReceive(this, local);
    }

    /** Requests to be posted by one call: all to send, or all receives. */
    public PreparedChain prepareChain(PreparedRequest<?>... requests) {
        return new PreparedChain(requests);
    }

    /** How many requests to send can be posted now. For the thread that posts them. */
    public int freeSends() {
        return sends.freeSlots();
    }

    /** How many receives can be posted now. For the thread that posts them. */
    public int freeReceives() {
        return receives.freeSlots();
    }

    /**
     * Puts the queue pair into the error state and waits until everything posted to it has come out
     * of the completion queue, so that the adapter no longer uses any memory for it. Requests that
     * were under way are completed as {@link CompletionStatus#FLUSHED}; those that the peer has
     * seen may have been done all the same.
     *
     * <p>For the thread that posts to send. Waits by polling, so the queue need not be waitable.
     *
     * @param cursor a cursor of this thread's over the completion queue, which must be that of both
     *     directions
     * @param handler is shown each completion that comes meanwhile, those of other queue pairs too
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public void drain(CompletionCursor cursor, Duration timeout, Consumer<CompletionCursor> handler)
            throws FabricException, InterruptedIOException {
        sendsOfThisThread();
        if (!cursor.isOver(ofSends) || !cursor.isOver(ofReceives)) {
            throw new IllegalArgumentException(
                    "The cursor is not over the completion queue of both directions of " + this);
        }
        var deadline = Deadline.after(timeout);
        modify(QueuePairChange.to(QueuePairState.ERROR));
        while (outstanding() > 0) {
            if (sends.outstanding() > 0 && !sends.hasMarker()) {
                tryPostMarker();
            }
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while draining " + this);
            }
            if (cursor.poll() == 0) {
                if (deadline.hasPassed()) {
                    throw deadline.missed(
                            "%s did not drain; %d requests are still under way"
                                    .formatted(this, outstanding()));
                }
                LockSupport.parkNanos(20_000);
            }
            while (cursor.next()) {
                handler.accept(cursor);
            }
        }
    }

    @Override
    int outstanding() {
        return sends.outstanding() + receives.outstanding();
    }

    /**
     * A request that shows, by being flushed, that all before it are over: those that were
     * unsignalled and done have no completion of their own. It has a slot that was asked for beyond
     * the user's, and the completion queue's spare place.
     */
    private void tryPostMarker() throws VerbsException {
        ownLifetime().hold(); // before taking the place: close() returns it
        try {
            if (ofSends.attachments().takeSpare(sends)) {
                postMarker();
            }
        } finally {
            ownLifetime().release();
        }
    }

    private void postMarker() throws VerbsException {
        var marker = new WorkRequest.Send(1);
        marker.operation(WorkRequest.Operation.SEND);
        marker.flags(WorkRequest.Send.SIGNALED);
        marker.number(sends.requestNumber(sends.takeForMarker()));
        try {
            var errno =
                    hotPath.postSend(nativeAddress(), marker.address(), marker.refusedAddress());
            if (errno != 0) {
                sends.giveBack(1);
                sends.markerIsOver();
                ofSends.attachments().returnSpare(sends);
                throw new PostException(
                        "ibv_post_send", "for the marker that drains " + this, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(marker);
        }
    }

    /** The queue of sends, for the one thread that may use it: the first to ask, until it ends. */
    synchronized PolledWorkQueue sendsOfThisThread() {
        sender = claim(sender, "requests to send");
        return sends;
    }

    /** The queue of receives, likewise. */
    synchronized PolledWorkQueue receivesOfThisThread() {
        receiver = claim(receiver, "receives");
        return receives;
    }

    private Thread claim(@Nullable Thread claimed, String what) {
        var current = Thread.currentThread();
        if (claimed != null && claimed != current && claimed.isAlive()) {
            throw new WrongThreadException(
                    "The %s of %s are prepared by %s".formatted(what, this, claimed));
        }
        return current;
    }

    int sendElements() {
        return options.sendElements();
    }

    int receiveElements() {
        return options.receiveElements();
    }

    HotPath hotPath() {
        return hotPath;
    }
}
