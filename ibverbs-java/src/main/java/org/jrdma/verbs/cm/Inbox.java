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

/** The events of one identifier, for whoever waits for them. Those who put never wait. */
final class Inbox {

    private final String owner;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<ConnectionEvent> events = new ArrayDeque<>();
    private @Nullable Consumer<ConnectionEvent> handler;
    private @Nullable VerbsException failure;
    private @Nullable String closed;

    Inbox(String owner) {
        this.owner = owner;
    }

    /** Drops it if this is closed. */
    void put(ConnectionEvent event) {
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

    /** Has whoever waits for an event fail. */
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
     * @param missed what to say has not happened, if it does not in time
     * @throws IllegalStateException if it is closed, before or meanwhile
     */
    ConnectionEvent take(Deadline deadline, String missed)
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
     * Gives the handler what is there and what is to come, one after the other. It runs on the
     * thread that puts, and must not wait.
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

    /** Ends all waits. */
    void close() {
        close(owner + " is closed");
    }

    /** Ends all waits, and says why. */
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
