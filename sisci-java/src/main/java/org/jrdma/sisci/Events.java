package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the library told of one object, for whoever waits or listens. The library's thread only puts
 * it here.
 */
final class Events<E> {

    private static final Logger LOG = LoggerFactory.getLogger(Events.class);

    /** When nobody takes them, the oldest go. */
    private static final int CAPACITY = 65_536;

    private volatile String name;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<E> events = new ArrayDeque<>();
    private boolean closed;
    private boolean overflowed;

    /**
     * @param name of the object
     */
    Events(String name) {
        this.name = name;
    }

    /** What the object is called from now on. */
    void name(String newName) {
        name = newName;
    }

    /** Never waits for more than the lock. */
    void put(E event) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (events.size() == CAPACITY) {
                events.remove();
                if (!overflowed) {
                    LOG.warn("Nobody takes the events of {}: the oldest are lost", name);
                    overflowed = true;
                }
            }
            events.add(event);
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for an event.
     *
     * @param missed what to say has not happened, if it does not in time
     * @throws IllegalStateException if the object is closed, before or meanwhile
     */
    E take(Deadline deadline, String missed) throws FabricException, InterruptedIOException {
        lock.lock();
        try {
            while (events.isEmpty()) {
                if (closed) {
                    throw new IllegalStateException(name + " is closed");
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
            throw new InterruptedIOException("interrupted while waiting for " + name);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives the listener each event from now until the close, one after the other, on a virtual
     * thread of its own. What it throws is logged.
     */
    void listen(Consumer<? super E> listener) {
        Thread.ofVirtual()
                .name("jrdma-events-" + name)
                .start(() -> {
                    try {
                        while (true) {
                            tell(listener, take(Deadline.NEVER, name));
                        }
                    } catch (IllegalStateException e) {
                        LOG.debug("No more events: {}", e.getMessage());
                    } catch (FabricException | InterruptedIOException e) {
                        LOG.warn("No more events of {}: {}", name, e.getMessage());
                    }
                });
    }

    private void tell(Consumer<? super E> listener, E event) {
        try {
            listener.accept(event);
        } catch (RuntimeException e) {
            LOG.warn("A listener for events of {} failed", name, e);
        }
    }

    /** Ends all waits; what nobody took is lost. */
    void close() {
        lock.lock();
        try {
            closed = true;
            events.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
