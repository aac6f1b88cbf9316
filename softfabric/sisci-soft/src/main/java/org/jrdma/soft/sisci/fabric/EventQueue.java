package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.function.Consumer;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The events of an object that the program has not received yet. The program either registers a
 * callback or waits for events. Safe for use by multiple threads.
 */
public final class EventQueue<E> {

    /** A callback of the program. */
    @FunctionalInterface
    public interface Callback<E> {
        /**
         * Calls the program with an event. Returns SCI_CALLBACK_CANCEL if no further event may be
         * delivered.
         */
        int call(E event);
    }

    private static final int MAX_EVENTS = 4096;
    private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);

    private final CallbackThread callbacks;
    private final @Nullable Callback<E> callback;

    /** The capacity of the queue. If it is exceeded, the oldest entry is removed. */
    private final int maxEvents;

    /**
     * The queued events, the oldest first. Consecutive equal events share an entry, which counts
     * them.
     */
    private final ArrayQueue<Waiting<E>> waiting = new ArrayQueue<>();

    private boolean running;
    private boolean cancelled;
    private boolean closed;

    private static final class Waiting<E> {

        final E event;
        long times;

        Waiting(E event) {
            this.event = event;
        }
    }

    /**
     * Creates a bounded queue. It drops its oldest events when it is full, because the events of a
     * program that never takes them would exhaust the memory.
     */
    EventQueue(CallbackThread callbacks, @Nullable Callback<E> callback) {
        this(callbacks, callback, MAX_EVENTS);
    }

    /** Creates an unbounded queue, for events whose number is limited by their senders. */
    static <E> EventQueue<E> unbounded(CallbackThread callbacks, @Nullable Callback<E> callback) {
        return new EventQueue<>(callbacks, callback, Integer.MAX_VALUE);
    }

    private EventQueue(CallbackThread callbacks, @Nullable Callback<E> callback, int maxEvents) {
        this.callbacks = callbacks;
        this.callback = callback;
        this.maxEvents = maxEvents;
    }

    void put(E event) {
        put(event, 1);
    }

    /** Adds several occurrences of an event. */
    synchronized void put(E event, int times) {
        if (closed || cancelled || times <= 0) {
            return;
        }
        if (waiting.isEmpty() || !waiting.getLast().event.equals(event)) {
            if (waiting.size() == maxEvents) {
                LOG.warn(
                        "Dropped {}, because the program does not take its events",
                        waiting.getFirst().event);
                waiting.removeFirst();
            }
            var added = new Waiting<>(event);
            if (callback != null) {
                callbacks.execute(this::deliver); // First, because it may throw OutOfMemoryError.
            }
            waiting.addLast(added);
        }
        waiting.getLast().times += times;
        notifyAll();
    }

    private E take() {
        var first = waiting.getFirst();
        first.times--;
        if (first.times == 0) {
            waiting.removeFirst();
        } else if (callback != null) {
            callbacks.execute(this::deliver);
        }
        return first.event;
    }

    /** Adds an event unless the queue already contains an event. */
    synchronized void putUnlessWaiting(E event) {
        if (waiting.isEmpty()) {
            put(event);
        }
    }

    private void deliver() {
        E event;
        synchronized (this) {
            if (waiting.isEmpty() || closed || cancelled || callback == null) {
                return;
            }
            event = take();
            running = true;
        }
        // Executed even if this process has no memory for the callback.
        var action = SCI_CALLBACK_CONTINUE();
        try {
            action = callback.call(event);
        } finally {
            synchronized (this) {
                running = false;
                cancelled |= action == SCI_CALLBACK_CANCEL();
                notifyAll();
            }
        }
    }

    /**
     * Waits for the next event, and removes it from the queue.
     *
     * @param milliseconds the timeout as an unsigned number; SCI_INFINITE_TIMEOUT for none
     * @throws SciException if the timeout expires, or if the queue is closed or has a callback
     */
    public E await(int milliseconds) {
        return await(milliseconds, _ -> {});
    }

    /**
     * Waits for the next event, checks it, and removes it from the queue.
     *
     * @param check throws an exception for an event that must remain in the queue
     */
    synchronized E await(int milliseconds, Consumer<E> check) {
        throwIf(callback != null, SCI_ERR_ILLEGAL_OPERATION());
        UninterruptibleWait.until(
                this, UninterruptibleWait.nanos(milliseconds), () -> closed || !waiting.isEmpty());
        throwIf(closed, SCI_ERR_CANCELLED());
        throwIf(waiting.isEmpty(), SCI_ERR_TIMEOUT());
        check.accept(waiting.getFirst().event);
        return take();
    }

    /**
     * Closes the queue and ends all waits. When this method returns, no callback is running, unless
     * the callback thread called this method.
     */
    synchronized void close() {
        closed = true;
        notifyAll();
        UninterruptibleWait.until(this, Long.MAX_VALUE, () -> !running || callbacks.isCurrent());
    }
}
