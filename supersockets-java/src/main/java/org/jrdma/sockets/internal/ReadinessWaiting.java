package org.jrdma.sockets.internal;

import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a {@link ReadinessSource}. Spins first, because an event that occurs soon is cheaper to
 * detect by spinning than by a wake-up. Then parks.
 */
public final class ReadinessWaiting implements Waiting {

    private final ReadinessSource source;
    private final int events;
    private final long spinNanos;
    private final Runnable listener = this::wakeUp;
    private volatile @Nullable Thread parked;
    private volatile boolean ended;

    /** Waits for {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}. */
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
                    LockSupport.park(this); // parkNanos would set a timer for a virtual thread
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
