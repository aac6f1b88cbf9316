package org.jrdma.sockets.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * What becomes ready in Java, where no descriptor tells of it: a stream over shared memory, say.
 * Safe for use by several threads.
 */
public abstract class ReadinessSource {

    private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

    /** What it is ready for, as poll(2) would say: {@link SocketCalls#POLLIN}, POLLOUT. */
    public abstract int ready();

    /** From now until it is ready for one of these, {@link #changed()} has to be called then. */
    protected abstract void arm(int events);

    /** What of {@code events} it is ready for; if for nothing, its listeners hear when it is. */
    public final int readyOrArmed(int events) {
        var ready = ready() & events;
        if (ready != 0) {
            return ready;
        }
        arm(events);
        return ready() & events; // it may have happened before who makes it happen knew of us
    }

    /** Calls {@code listener}, which must not wait, when it may have become ready. */
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
