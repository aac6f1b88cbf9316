package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Locale;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
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

    private static final int CAPACITY = 65_536;

    private volatile String name;
    private final ToIntFunction<? super E> weight;
    private final long capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** What comes several times in a row is counted. */
    private final ArrayDeque<Waiting<E>> events = new ArrayDeque<>();

    private long waitingWeight;
    private long lost;
    private boolean closed;
    private boolean overflowed;

    /** Some were lost before the next. */
    private static final class LossException extends FabricException {

        private static final long serialVersionUID = 1L;

        LossException(long number, String name) {
            super(
                    String.format(
                            Locale.ROOT,
                            "%,d events of %s are lost: nobody took them",
                            number,
                            name));
        }
    }

    private static final class Waiting<E> {

        final E event;
        long times = 1;

        Waiting(E event) {
            this.event = event;
        }
    }

    /**
     * @param name of the object
     */
    Events(String name) {
        this(name, _ -> 1, CAPACITY);
    }

    /**
     * @param name of the object
     * @param weight of an event
     * @param capacity the weight of all that wait to be taken; beyond it the oldest are lost
     */
    Events(String name, ToIntFunction<? super E> weight, long capacity) {
        this.name = name;
        this.weight = weight;
        this.capacity = capacity;
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
            var last = events.peekLast();
            if (last != null && last.event.equals(event)) {
                last.times++;
            } else {
                waitingWeight += weight.applyAsInt(event);
                while (waitingWeight > capacity && !events.isEmpty()) {
                    lose(events.remove());
                }
                events.add(new Waiting<>(event));
            }
            changed.signal();
        } finally {
            lock.unlock();
        }
    }

    private void lose(Waiting<E> oldest) {
        waitingWeight -= weight.applyAsInt(oldest.event);
        lost += oldest.times;
        if (!overflowed) {
            LOG.warn("Nobody takes the events of {}: the oldest are lost", name);
            overflowed = true;
        }
    }

    /**
     * Waits for an event.
     *
     * @param missed what to say has not happened, if it does not in time
     * @throws FabricException once, in the place of those that were lost because nobody took them
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
            if (lost > 0) {
                var number = lost;
                lost = 0;
                throw new LossException(number, name);
            }
            var first = events.element();
            first.times--;
            if (first.times == 0) {
                events.remove();
                waitingWeight -= weight.applyAsInt(first.event);
            }
            return first.event;
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
                            try {
                                tell(listener, take(Deadline.NEVER, name));
                            } catch (LossException e) {
                                LOG.warn("A listener is too slow: {}", e.getMessage());
                            }
                        }
                    } catch (IllegalStateException e) {
                        LOG.debug("No more events: {}", e.getMessage());
                    } catch (FabricException | InterruptedIOException e) {
                        LOG.warn("No more events of {}: {}", name, e.getMessage());
                    }
                });
    }

    private void tell(Consumer<? super E> listener, E event) {
        if (isClosed()) {
            return; // it was taken just before
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

    /** Ends all waits; what nobody took is lost. A listener that is at it goes on. */
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
