package org.jrdma.sockets.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * An object whose readiness is determined by Java code, and not by the kernel. An example is a
 * stream over shared memory. Safe for use by multiple threads.
 */
public abstract class ReadinessSource {

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /**
     * Returns the events of poll(2) for which the source is ready now: {@link SocketCalls#POLLIN},
     * {@link SocketCalls#POLLOUT}, or both.
     */
    public abstract int ready();

    /**
     * Requests that {@link #changed()} is called when the source becomes ready for one of these
     * events.
     *
     * @param parks true if the current thread then sleeps by means of {@link #parker}
     */
    protected abstract void arm(int events, boolean parks);

    /**
     * Creates an object by which the current thread sleeps until this source may be ready.
     *
     * @param events the events that the thread waits for
     */
    protected ThreadParker parker(int events) {
        return ThreadParker.ofCurrentThread();
    }

    /**
     * Returns the events among {@code events} for which the source is ready. If there are none, the
     * listeners are notified when the source becomes ready for one of them.
     */
    public final int readyOrArmed(int events) {
        return readyOrArmed(events, false);
    }

    final int readyOrArmed(int events, boolean parks) {
        var ready = ready() & events;
        if (ready != 0) {
            return ready;
        }
        arm(events, parks);
        return ready() & events; // An event may have occurred before the source was armed.
    }

    /** Adds a listener. It runs each time the source may have become ready, and must not wait. */
    public final void add(Runnable listener) {
        listeners.add(listener);
    }

    public final void remove(Runnable listener) {
        listeners.remove(listener);
    }

    /** Runs the listeners, because the source may have become ready. */
    protected final void changed() {
        listeners.forEach(Runnable::run);
    }
}
