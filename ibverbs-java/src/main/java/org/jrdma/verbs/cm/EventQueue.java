package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The events of one identifier: a queue for threads that wait for an event, or the source of a
 * handler. Adding an event does not block.
 */
final class EventQueue {

    private final String owner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<ConnectionEvent> events = new ArrayDeque<>();
    private @Nullable Consumer<ConnectionEvent> handler;
    private @Nullable VerbsException failure;
    private @Nullable String closed;

    EventQueue(String owner) {
        this.owner = owner;
    }

    /** Adds an event, or drops it if the queue is closed. */
    void add(ConnectionEvent event) {
        lock.lock();
        try {
            if (closed != null) {
                return;
            }
            if (handler == null) {
                events.add(event);
                changed.signal();
            } else {
                handler.accept(event);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Fails all current and future waits. */
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
     * @param missed the description of the event in a timeout
     * @throws IllegalStateException if the queue is or becomes closed
     */
    private ConnectionEvent take(Deadline deadline, String missed)
            throws FabricException, InterruptedIOException {
        lock.lock();
        try {
            while (events.isEmpty()) {
                if (closed != null) {
                    throw new IllegalStateException(closed);
                }
                if (failure != null) {
                    throw failure;
                }
                var remaining = deadline.remainingNanos();
                if (remaining <= 0) {
                    throw deadline.missed(missed);
                }
                changed.awaitNanos(remaining);
            }
            return events.remove();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for " + owner);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the outcome of a step.
     *
     * @param attempt the description of the step in a failure
     * @param missed the description of the step in a timeout
     * @throws CmException if the step failed
     */
    ConnectionEvent awaitAnswer(Deadline deadline, String function, String attempt, String missed)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = take(deadline, missed);
            switch (event) {
                case ConnectionEvent.Failure failed ->
                        throw new CmException(function, attempt, failed);
                case ConnectionEvent.DeviceRemoved _ ->
                        throw new VerbsException(
                                function, attempt + ": the device is being taken out");
                case ConnectionEvent.AddressChanged _,
                        ConnectionEvent.TimeWaitExit _,
                        ConnectionEvent.Written _ -> {
                    // does not end the step
                }
                default -> {
                    return event;
                }
            }
        }
    }

    /**
     * Passes all events to a handler from now on, one at a time. The handler runs on the thread
     * that adds the event, and must not block.
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

    /** Ends all waits and drops all events. */
    void close() {
        close(owner + " is closed");
    }

    /** Ends all waits for a reason, and drops all events. */
    void close(String reason) {
        lock.lock();
        try {
            if (closed == null) {
                closed = reason;
            }
            changed.signalAll();
            events.clear();
        } finally {
            lock.unlock();
        }
    }
}
