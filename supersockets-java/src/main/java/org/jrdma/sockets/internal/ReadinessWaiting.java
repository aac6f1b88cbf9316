package org.jrdma.sockets.internal;

import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a {@link ReadinessSource}. A waiting thread first spins, because detecting an event by
 * spinning costs less than waking up a parked thread. If no event occurs while it spins, the thread
 * parks.
 */
public final class ReadinessWaiting implements Waiting {

    private final ReadinessSource source;
    private final int events;
    private final long spinNanos;
    private final Runnable listener = this::wakeUp;
    private volatile @Nullable Thread parked;
    private volatile boolean ended;

    /**
     * Creates an object that waits for one event of a source.
     *
     * @param events {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}
     * @param spinNanos the number of nanoseconds for which a thread spins before it parks
     */
    public ReadinessWaiting(ReadinessSource source, int events, long spinNanos) {
        this.source = source;
        this.events = events;
        this.spinNanos = spinNanos;
    }

    @Override
    public boolean await(Deadline deadline) {
        return spin() || park(deadline);
    }

    private boolean spin() {
        var end = System.nanoTime() + spinNanos;
        do {
            if (ended || (source.ready() & events) != 0) {
                return true;
            }
            Thread.onSpinWait();
        } while (System.nanoTime() < end);
        return false;
    }

    private boolean park(Deadline deadline) {
        var thread = Thread.currentThread();
        parked = thread;
        source.add(listener);
        try {
            while (true) {
                if (ended || thread.isInterrupted() || source.readyOrArmed(events) != 0) {
                    return true;
                }
                if (deadline.equals(Deadline.NEVER)) {
                    // Calling parkNanos would set a timer for a virtual thread.
                    LockSupport.park(this);
                    continue;
                }
                var remaining = deadline.remainingNanos();
                if (remaining <= 0) {
                    return false;
                }
                LockSupport.parkNanos(this, remaining);
            }
        } finally {
            source.remove(listener);
            parked = null;
        }
    }

    @Override
    public void end() {
        ended = true;
        wakeUp();
    }

    private void wakeUp() {
        var thread = parked;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
