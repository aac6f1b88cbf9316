package org.jrdma.soft.sisci.fabric;

import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.sisci.sisci_h;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where a program learns of events: by a callback, or by waiting, as it has chosen. Safe for use by
 * several threads.
 */
public final class Outlet<E> {

    /** A callback of the program's. */
    @FunctionalInterface
    public interface Callback<E> {
        /** Calls it. Returns whether it wants to be called again, as SISCI's number. */
        int call(E event);
    }

    private static final Logger LOG = LoggerFactory.getLogger(Outlet.class);

    private final CallbackThread callbacks;
    private final @Nullable Callback<E> callback;

    /** How many wait at most for someone to take them; the oldest go first. */
    private final int most;

    /** The oldest first; what comes several times in a row is counted. */
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

    Outlet(CallbackThread callbacks, @Nullable Callback<E> callback, int most) {
        this.callbacks = callbacks;
        this.callback = callback;
        this.most = most;
    }

    /** Tells of an event. Never waits. */
    void put(E event) {
        put(event, 1);
    }

    /** The same for one that has happened several times. */
    synchronized void put(E event, int times) {
        if (closed || cancelled || times <= 0) {
            return;
        }
        if (waiting.isEmpty() || !waiting.getLast().event.equals(event)) {
            if (waiting.size() == most) {
                LOG.warn("Nobody takes {}: it is lost", waiting.getFirst().event);
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

    /** The same, but as one with the last that nobody has taken, where there is one. */
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
        var action = sisci_h.SCI_CALLBACK_CANCEL();
        try {
            action = callback.call(event);
        } finally {
            synchronized (this) {
                running = false;
                cancelled |= action == sisci_h.SCI_CALLBACK_CANCEL();
                notifyAll();
            }
        }
    }

    /**
     * Waits for the next event.
     *
     * @param milliseconds unsigned; all ones for ever
     * @param removes whether it is taken, or left for the next
     * @throws Refusal if none comes in time, or this is closed, or a callback hears of them
     */
    public synchronized E await(int milliseconds, boolean removes) {
        Refusal.when(callback != null, sisci_h.SCI_ERR_ILLEGAL_OPERATION());
        var forever = milliseconds == sisci_h.SCI_INFINITE_TIMEOUT();
        var end =
                System.nanoTime()
                        + TimeUnit.MILLISECONDS.toNanos(Integer.toUnsignedLong(milliseconds));
        var interrupted = false;
        try {
            while (true) {
                Refusal.when(closed, sisci_h.SCI_ERR_CANCELLED());
                if (!waiting.isEmpty()) {
                    return removes ? take() : waiting.getFirst().event;
                }
                var left = forever ? Long.MAX_VALUE : end - System.nanoTime();
                Refusal.when(left <= 0, sisci_h.SCI_ERR_TIMEOUT());
                try {
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                } catch (InterruptedException e) {
                    interrupted = true; // kept for later: C knows none
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** After it no callback runs any more, unless it is called from within one. */
    synchronized void close() {
        closed = true;
        notifyAll();
        var interrupted = false;
        while (running && !callbacks.isCurrent()) {
            try {
                wait();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
