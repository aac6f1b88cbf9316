package org.jrdma.verbs.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Deadline;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.cm.RdmaChannel.Handler;
import org.jrdma.verbs.cm.RdmaChannel.WaitResult;
import org.jrdma.verbs.cm.channel.InvalidMessageException;
import org.jrdma.verbs.cm.channel.KeepAlive;
import org.jrdma.verbs.cm.channel.MessageRings;
import org.jrdma.verbs.cm.channel.RemoteOperations;
import org.jrdma.verbs.model.VerbsException;

/**
 * The completions of an {@link RdmaChannel}: passes received messages and completed operations to
 * the program's handler, and posts the receives of handled messages again. Confined to the thread
 * of the channel, except {@link #wake()}.
 */
final class ChannelCompletions {

    private static final int MAX_BATCH = 64;

    private final MessageRings rings;
    private final RemoteOperations operations;
    private final KeepAlive keepAlive;
    private final ChannelTermination termination;
    private final CompletionCursor cursor;

    /** True if {@link #await} has not reported a call of {@link #wake} yet. */
    private final AtomicBoolean woken = new AtomicBoolean();

    private boolean handling;

    ChannelCompletions(
            MessageRings rings,
            RemoteOperations operations,
            KeepAlive keepAlive,
            ChannelTermination termination) {
        this.rings = rings;
        this.operations = operations;
        this.keepAlive = keepAlive;
        this.termination = termination;
        this.cursor = rings.completions().newCursor(Math.min(MAX_BATCH, rings.capacity()));
    }

    /** Handles completions without waiting; see {@link RdmaChannel#poll}. */
    int poll(Handler handler) throws IOException {
        rejectIfHandling();
        try {
            cursor.poll();
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
        return handle(handler);
    }

    /** Waits for completions and handles them; see {@link RdmaChannel#await}. */
    WaitResult await(Handler handler, Duration timeout) throws IOException {
        rejectIfHandling();
        var deadline = Deadline.after(timeout);
        var freeBefore = rings.freeMessages();
        do {
            // No further completions arrive, so the thread must not wait for them.
            if (termination.isTerminated()) {
                poll(handler); // Throws if there is nothing left to handle.
                return WaitResult.HANDLED;
            }
            try {
                cursor.await(Duration.ofNanos(Math.min(deadline.remainingNanos(), untilProbe())));
            } catch (IllegalStateException e) {
                throw termination.explained(e);
            }
            var handled = handle(handler);
            if (woken.getAndSet(false)) {
                return WaitResult.WOKEN;
            }
            if (handled > 0) {
                return WaitResult.HANDLED;
            }
            if (rings.freeMessages() > freeBefore) {
                return WaitResult.CAN_SEND;
            }
        } while (!deadline.hasPassed());
        return WaitResult.TIMED_OUT;
    }

    /** Ends a wait; see {@link RdmaChannel#wake}. */
    void wake() {
        woken.set(true);
        cursor.wake();
    }

    private void rejectIfHandling() {
        if (handling) {
            throw new IllegalStateException(
                    "A handler must not call poll() or await() of the channel that called it");
        }
    }

    private int handle(Handler handler) throws IOException {
        var completed = false;
        var handled = 0;
        handling = true;
        try {
            while (hasNext()) {
                completed = true;
                if (!cursor.isSuccess()) {
                    termination.requestFailed(cursor.status());
                } else if (handle(cursor.id(), handler)) {
                    handled++;
                }
            }
        } finally {
            handling = false;
        }
        if (handled == 0) {
            termination.check();
        }
        if (completed) {
            keepAlive.completed();
        } else {
            probeIfDue();
        }
        return handled;
    }

    /** Returns the time until the next keep-alive probe in nanoseconds. */
    private long untilProbe() {
        return rings.isStarted() ? keepAlive.remainingNanos() : Long.MAX_VALUE;
    }

    private void probeIfDue() throws VerbsException {
        if (!rings.isStarted()) {
            return;
        }
        try {
            keepAlive.probeIfDue();
        } catch (VerbsException e) {
            throw termination.postFailed(e);
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
    }

    private boolean hasNext() throws ChannelClosedException {
        try {
            return cursor.next();
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
    }

    /** Handles one completion. Returns true if the program's handler was called. */
    private boolean handle(long id, Handler handler) throws IOException {
        if (MessageRings.isReceive(id)) {
            return handleReceived(MessageRings.slot(id), handler);
        }
        if (MessageRings.isOperation(id)) {
            handler.done(operations.complete(MessageRings.slot(id)));
            return true;
        }
        if (MessageRings.isKeepAliveProbe(id)) {
            keepAlive.probeCompleted();
            return false;
        }
        try {
            rings.sent(id, !termination.isTerminated());
        } catch (VerbsException e) {
            throw termination.postFailed(e);
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
        return false;
    }

    private boolean handleReceived(int slot, Handler handler) throws IOException {
        boolean isMessage;
        try {
            isMessage = rings.received(slot, cursor.bytes());
        } catch (InvalidMessageException e) {
            throw termination.terminate(
                    new TerminationCause(TerminationCause.Cause.PROTOCOL_ERROR, e.getMessage()), e);
        } catch (IllegalStateException e) {
            throw termination.explained(e);
        }
        var done = false;
        try {
            if (isMessage) {
                handler.message(rings.message(slot), MessageRings.length(cursor.bytes()));
            }
            done = true;
        } finally {
            release(slot, isMessage, done);
        }
        return isMessage;
    }

    /**
     * Posts the receive of a handled message again.
     *
     * @param done true if the handler has returned; false if it has thrown an exception, which must
     *     not be replaced by an exception of this method
     */
    private void release(int slot, boolean isMessage, boolean done) throws VerbsException {
        try {
            rings.handled(slot, isMessage, !termination.isTerminated());
        } catch (VerbsException e) {
            var failure = termination.postFailed(e);
            if (done) {
                throw failure;
            }
        } catch (IllegalStateException e) {
            if (done) {
                throw termination.explained(e);
            }
        }
    }
}
