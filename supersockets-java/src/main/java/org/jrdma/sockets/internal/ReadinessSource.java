package org.jrdma.sockets.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * An object whose readiness Java code determines, not the kernel: a stream over shared memory, for
 * example. Safe for use by multiple threads.
 */
public abstract class ReadinessSource {

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** Returns the current readiness as events of poll(2): {@link SocketCalls#POLLIN}, POLLOUT. */
    public abstract int ready();

    /**
     * Requests that {@link #changed()} is called when the source becomes ready for one of these
     * events.
     */
    protected abstract void arm(int events);

    /**
     * Returns the events among {@code events} that the source is ready for. If there are none, the
     * listeners are notified when the source becomes ready.
     */
    public final int readyOrArmed(int events) {
        var ready = ready() & events;
        if (ready != 0) {
            return ready;
        }
        arm(events);
        return ready() & events; // an event may have occurred before the source was armed
    }

    /** Adds a listener that runs when the source may have become ready, and must not wait. */
    public final void add(Runnable listener) {
        listeners.add(listener);
    }

    public final void remove(Runnable listener) {
        listeners.remove(listener);
    }

    protected final void changed() {
        listeners.forEach(Runnable::run);
    }
}
