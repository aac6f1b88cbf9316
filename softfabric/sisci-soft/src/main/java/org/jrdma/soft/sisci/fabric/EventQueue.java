package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events of an object that the program has not seen yet. The program chooses to be called back or
 * to wait. Safe for use by multiple threads.
 */
public final class EventQueue<E> {

    /** A callback of the program. */
    @FunctionalInterface
    public interface Callback<E> {
        /** Calls the program; returns SISCI's number for whether to call again. */
        int call(E event);
    }

    private static final int MOST_EVENTS = 4096;
    private static final Logger LOG = LoggerFactory.getLogger(EventQueue.class);

    private final CallbackThread callbacks;
    private final @Nullable Callback<E> callback;

    /** The capacity: the oldest events are lost first. */
    private final int most;

    /** The oldest first. Equal events in a row are counted. */
    private final ArrayDeque<Waiting<E>> waiting = new ArrayDeque<>();

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

    /** A queue that loses its oldest events, since a program need not take them. */
    EventQueue(CallbackThread callbacks, @Nullable Callback<E> callback) {
        this(callbacks, callback, MOST_EVENTS);
    }

    /** A queue that loses no event: the senders limit their number. */
    static <E> EventQueue<E> unbounded(CallbackThread callbacks, @Nullable Callback<E> callback) {
        return new EventQueue<>(callbacks, callback, Integer.MAX_VALUE);
    }

    private EventQueue(CallbackThread callbacks, @Nullable Callback<E> callback, int most) {
        this.callbacks = callbacks;
        this.callback = callback;
        this.most = most;
    }

    /** Adds an event. Never waits. */
    void put(E event) {
        put(event, 1);
    }

    /** Adds an event that has happened several times. */
    synchronized void put(E event, int times) {
        if (closed || cancelled || times <= 0) {
            return;
        }
        if (waiting.isEmpty() || !waiting.getLast().event.equals(event)) {
            if (waiting.size() == most) {
                LOG.warn("The program does not take {}: it is lost", waiting.getFirst().event);
                waiting.removeFirst();
            }
            waiting.addLast(new Waiting<>(event));
            if (callback != null) {
                callbacks.execute(this::deliver);
            }
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

    /** Adds an event unless another waits to be taken. */
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
        var action = SCI_CALLBACK_CANCEL();
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
     * Waits for the next event.
     *
     * @param milliseconds unsigned; all ones for ever
     * @param removes whether the event is removed
     * @throws SciException if none comes in time, or the queue is closed or has a callback
     */
    public synchronized E await(int milliseconds, boolean removes) {
        throwIf(callback != null, SCI_ERR_ILLEGAL_OPERATION());
        UninterruptibleWait.until(
                this, UninterruptibleWait.nanos(milliseconds), () -> closed || !waiting.isEmpty());
        throwIf(closed, SCI_ERR_CANCELLED());
        throwIf(waiting.isEmpty(), SCI_ERR_TIMEOUT());
        return removes ? take() : waiting.getFirst().event;
    }

    /** Ends all waits. No callback runs afterwards, unless this is called from within one. */
    synchronized void close() {
        closed = true;
        notifyAll();
        UninterruptibleWait.until(this, Long.MAX_VALUE, () -> !running || callbacks.isCurrent());
    }
}
