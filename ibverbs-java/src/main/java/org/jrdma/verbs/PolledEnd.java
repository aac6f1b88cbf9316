package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** What polled queue pairs have in common: that they send. */
abstract sealed class PolledEnd extends QueuePair permits PolledTwoWayEnd, PolledXrcSendQueuePair {

    private final PolledWorkQueue sends;
    private final CompletionQueue ofSends;
    private final int sendElements;
    private @Nullable Thread sender;

    PolledEnd(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            QueuePairOptions<?> options,
            PolledWorkQueue sends,
            Made made) {
        super(domain, made, options);
        this.sends = sends;
        this.ofSends = ofSends;
        this.sendElements = options.sendElements();
    }

    /** The domain it belongs to. */
    public final ProtectionDomain domain() {
        return protection();
    }

    /** Requests to be posted by one call: all to send, or all receives. */
    public final PreparedChain prepareChain(PreparedRequest<?>... requests) {
        return new PreparedChain(requests);
    }

    /** How many requests to send can be posted now. For the thread that posts them. */
    public final int freeSends() {
        return sends.freeSlots();
    }

    /**
     * Puts the queue pair into the error state and waits until everything posted to it has come out
     * of the completion queue, so that the adapter no longer uses any memory for it. Requests that
     * were under way are completed as {@link CompletionStatus#FLUSHED}; those that the peer has
     * seen may have been done all the same.
     *
     * <p>For the thread that posts to send. Waits by polling, so the queue need not be waitable.
     *
     * @param cursor a cursor of this thread's over the completion queue, which must be that of all
     *     its directions
     * @param handler is shown each completion that comes meanwhile, those of other queue pairs too
     * @throws org.jrdma.ffi.FabricTimeoutException if it takes longer
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public final void drain(
            CompletionCursor cursor, Duration timeout, Consumer<CompletionCursor> handler)
            throws FabricException, InterruptedIOException {
        sendsOfThisThread();
        if (!isAllSeenBy(cursor)) {
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
            if (deadline.hasPassed()) {
                throw deadline.missed(
                        "%s did not drain; %d requests are still under way"
                                .formatted(this, outstanding()));
            }
            if (cursor.poll() == 0) {
                LockSupport.parkNanos(20_000);
            }
            while (cursor.next()) {
                handler.accept(cursor);
            }
        }
    }

    /** Whether all that it completes comes to a cursor. */
    boolean isAllSeenBy(CompletionCursor cursor) {
        return cursor.isOver(ofSends);
    }

    @Override
    int outstanding() {
        return sends.outstanding();
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
                var posted = false;
                try {
                    postMarker();
                    posted = true;
                } finally {
                    if (!posted) {
                        ofSends.attachments().returnSpare(sends);
                    }
                }
            }
        } finally {
            ownLifetime().release();
        }
    }

    private void postMarker() throws VerbsException {
        var marker = new WorkRequest.Send(1);
        marker.operation(WorkRequest.Operation.SEND);
        direct(marker);
        marker.flags(WorkRequest.Send.SIGNALED);
        hotPath().makeRoom();
        marker.number(sends.requestNumber(sends.takeForMarker()));
        try {
            var errno =
                    hotPath().postSend(nativeAddress(), marker.address(), marker.refusedAddress());
            if (errno != 0) {
                sends.giveBack(1);
                sends.markerIsOver();
                throw new PostException(
                        postFunction(), "for the marker that drains " + this, 0, errno);
            }
        } finally {
            Reference.reachabilityFence(marker);
        }
    }

    /** Gives a message that is never sent what a provider reads all the same. */
    abstract void direct(WorkRequest.Send marker) throws VerbsException;

    /** The queue of sends, for the one thread that may use it: the first to ask, until it ends. */
    final synchronized PolledWorkQueue sendsOfThisThread() {
        sender = claim(sender, "requests to send", this);
        return sends;
    }

    /** The current thread, if no other that lives was the first to ask. */
    static Thread claim(@Nullable Thread claimed, String what, Object queue) {
        var current = Thread.currentThread();
        if (claimed != null && claimed != current && claimed.isAlive()) {
            throw new WrongThreadException(
                    "The %s of %s are prepared by %s".formatted(what, queue, claimed));
        }
        return current;
    }

    final int sendElements() {
        return sendElements;
    }
}
