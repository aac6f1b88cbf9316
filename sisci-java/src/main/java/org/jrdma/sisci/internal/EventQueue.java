package org.jrdma.sisci.internal;

import java.io.InterruptedIOException;
import java.util.Locale;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue of the events that the library reports for one object. The library's thread only adds
 * events. Threads of the program take them, or a listener is called for them on a virtual thread.
 * Safe for use by multiple threads.
 */
public final class EventQueue<E> {

    private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);

    private static final int CAPACITY = 65_536;

    private volatile String name;
    private final ToIntFunction<? super E> weight;
    private final long capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** The queued events. Consecutive equal events share an entry, which counts them. */
    private final ArrayQueue<Queued<E>> events = new ArrayQueue<>();

    private long queuedWeight;
    private long lost;
    private boolean closed;
    private boolean overflowed;

    /** Thrown once instead of the next event if events were lost because the queue was full. */
    private static final class LossException extends FabricException {

        private static final long serialVersionUID = 1L;

        LossException(long number, String name) {
            super(
                    String.format(
                            Locale.ROOT,
                            "%,d events of %s were lost: they were not taken in time",
                            number,
                            name));
        }
    }

    private static final class Queued<E> {

        final E event;
        long times = 1;

        Queued(E event) {
            this.event = event;
        }
    }

    /**
     * Creates a queue with a capacity of 65,536 entries.
     *
     * @param name the name of the object for messages
     */
    public EventQueue(String name) {
        this(name, _ -> 1, CAPACITY);
    }

    /**
     * Creates a queue with a given capacity.
     *
     * @param name the name of the object for messages
     * @param weight the function that returns the weight of an event
     * @param capacity the maximum total weight of the queued events; if it is exceeded, the oldest
     *     events are lost
     */
    public EventQueue(String name, ToIntFunction<? super E> weight, long capacity) {
        this.name = name;
        this.weight = weight;
        this.capacity = capacity;
    }

    public void name(String newName) {
        name = newName;
    }

    public void put(E event) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            var last = events.isEmpty() ? null : events.getLast();
            if (last != null && last.event.equals(event)) {
                last.times++;
            } else {
                var added = new Queued<>(event);
                events.reserve(events.size() + 1);
                queuedWeight += weight.applyAsInt(event);
                while (queuedWeight > capacity && !events.isEmpty()) {
                    lose(events.removeFirst());
                }
                events.addLast(added);
            }
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void lose(Queued<E> oldest) {
        queuedWeight -= weight.applyAsInt(oldest.event);
        lost += oldest.times;
        if (!overflowed) {
            LOG.warn(
                    "The event queue of {} is full: the oldest events are lost. Take the events, or register a listener.",
                    name);
            overflowed = true;
        }
    }

    /**
     * Waits for an event and removes it.
     *
     * @param missed the start of the exception message if the deadline passes
     * @throws FabricException once, if events were lost because the queue was full
     * @throws IllegalStateException if the object is closed, before or during the wait
     */
    public E take(Deadline deadline, String missed) throws FabricException, InterruptedIOException {
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
                if (deadline.equals(Deadline.NEVER)) {
                    // Without a timer, for which the JDK may have no memory. A virtual thread would
                    // then never continue.
                    changed.await();
                } else {
                    var _ = changed.awaitNanos(remaining);
                }
            }
            if (lost > 0) {
                var number = lost;
                lost = 0;
                throw new LossException(number, name);
            }
            var first = events.getFirst();
            first.times--;
            if (first.times == 0) {
                var _ = events.removeFirst();
                queuedWeight -= weight.applyAsInt(first.event);
            }
            return first.event;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for an event of " + name);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Passes each event to a listener until the object is closed. The calls are made sequentially
     * on a dedicated virtual thread. Exceptions of the listener are logged.
     */
    public void listen(Consumer<? super E> listener) {
        Thread.ofVirtual()
                .name("jrdma-events-" + name)
                .start(() -> {
                    try {
                        while (true) {
                            try {
                                notify(listener, take(Deadline.NEVER, name));
                            } catch (LossException e) {
                                LOG.warn("A listener was too slow: {}", e.getMessage());
                            } catch (VirtualMachineError e) {
                                FailureLog.errorAndPause(
                                        LOG, "Taking an event failed and is repeated", e);
                            }
                        }
                    } catch (IllegalStateException e) {
                        LOG.debug("A listener has ended: {}", e.getMessage());
                    } catch (FabricException | InterruptedIOException e) {
                        LOG.warn("A listener for events of {} has ended: {}", name, e.getMessage());
                    }
                });
    }

    private void notify(Consumer<? super E> listener, E event) {
        if (isClosed()) {
            return; // The object was closed after the event had been taken.
        }
        try {
            listener.accept(event);
        } catch (RuntimeException | Error e) {
            LOG.warn("A listener for events of {} failed", name, e);
        }
    }

    private boolean isClosed() {
        lock.lock();
        try {
            return closed;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Closes the queue: ends all waits with IllegalStateException, and drops the queued events. A
     * running call of a listener continues.
     */
    public void close() {
        lock.lock();
        try {
            closed = true;
            events.clear();
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
