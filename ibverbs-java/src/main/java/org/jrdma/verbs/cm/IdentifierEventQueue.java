package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The queue of the events of one identifier. Waiting threads take the events, or a handler receives
 * them. Adding an event does not block.
 */
final class IdentifierEventQueue {

    private final String owner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final ArrayQueue<ConnectionEvent> events = new ArrayQueue<>();
    private @Nullable Consumer<ConnectionEvent> handler;
    private @Nullable VerbsException failure;
    private @Nullable String closeReason;

    IdentifierEventQueue(String owner) {
        this.owner = owner;
    }

    /** Adds an event. Discards the event if the queue is closed. */
    void add(ConnectionEvent event) {
        lock.lock();
        try {
            if (closeReason != null) {
                return;
            }
            if (handler == null) {
                events.addLast(event);
                changed.signal();
            } else {
                handler.accept(event);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Makes all current and future waits fail with an exception. */
    void fail(VerbsException e) {
        lock.lock();
        try {
            failure = e;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for an event.
     *
     * @param timedOut the start of the exception message for a timeout; the message ends with
     *     "within" and the timeout
     * @throws IllegalStateException if the queue is closed before or during the wait
     */
    private ConnectionEvent take(Deadline deadline, String timedOut)
            throws FabricException, InterruptedIOException {
        lock.lock();
        try {
            while (events.isEmpty()) {
                if (closeReason != null) {
                    throw new IllegalStateException(closeReason);
                }
                if (failure != null) {
                    throw failure;
                }
                var remaining = deadline.remainingNanos();
                if (remaining <= 0) {
                    throw deadline.missed(timedOut);
                }
                changed.awaitNanos(remaining);
            }
            return events.removeFirst();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for " + owner);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the event that reports the success or failure of a step.
     *
     * @param failure the start of the exception message if the step fails
     * @param timedOut the start of the exception message if the step times out; the message ends
     *     with "within" and the timeout
     * @throws CmException if the step failed
     */
    ConnectionEvent awaitOutcome(
            Deadline deadline, String function, String failure, String timedOut)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = take(deadline, timedOut);
            switch (event) {
                case ConnectionEvent.Failure failed ->
                        throw new CmException(function, failure, failed);
                case ConnectionEvent.DeviceRemoved _ ->
                        throw new VerbsException(
                                function, failure + ": the device is being removed");
                case ConnectionEvent.AddressChanged _,
                        ConnectionEvent.TimeWaitExit _,
                        ConnectionEvent.UserDefined _ -> {
                    // These events do not report the success or failure of a step.
                }
                default -> {
                    return event;
                }
            }
        }
    }

    /**
     * Passes all queued and future events to a handler, one at a time. The handler runs on the
     * thread that adds the event, and must not block.
     */
    void handle(Consumer<ConnectionEvent> eventHandler) {
        lock.lock();
        try {
            handler = eventHandler;
            events.forEach(eventHandler);
            events.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Closes the queue: makes all waits fail and discards all events. */
    void close() {
        close(owner + " is closed");
    }

    /**
     * Closes the queue.
     *
     * @param reason the message of the exceptions that waiting threads get
     */
    void close(String reason) {
        lock.lock();
        try {
            if (closeReason == null) {
                closeReason = reason;
            }
            changed.signalAll();
            events.clear();
        } finally {
            lock.unlock();
        }
    }
}
