package org.jrdma.sockets.internal;

import org.jrdma.ffi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a {@link ReadinessSource}. A waiting thread first spins, because detecting an event by
 * spinning costs less than waking up a parked thread. If no event occurs while it spins, the thread
 * parks.
 */
public final class ReadinessWaiting implements Waiting {

    /** The number of waits for which a thread spins without success before it spins less. */
    private static final int SPINNING_WAITS = 256;

    private final ReadinessSource source;
    private final int events;
    private final SpinBudget spinBudget;
    private final Runnable listener = this::wakeUp;
    private volatile @Nullable ThreadParker parked;
    private volatile boolean ended;

    /**
     * Creates an object that waits for one event of a source.
     *
     * @param events {@link SocketCalls#POLLIN} or {@link SocketCalls#POLLOUT}
     * @param spinNanos the maximum number of nanoseconds for which a thread spins before it parks
     */
    public ReadinessWaiting(ReadinessSource source, int events, long spinNanos) {
        this.source = source;
        this.events = events;
        this.spinBudget = new SpinBudget(spinNanos, SPINNING_WAITS);
    }

    @Override
    public boolean await(Deadline deadline) {
        var start = System.nanoTime();
        var spun = spin(start + spinBudget.nanos());
        var ready = spun || park(deadline);
        spinBudget.ended(System.nanoTime() - start, !spun);
        return ready;
    }

    /**
     * Checks for the event until a time passes. A virtual thread yields between the checks, so that
     * other threads can use its carrier.
     *
     * @param end the time as in {@link System#nanoTime}
     * @return false if the event has not occurred
     */
    // The result is correct whichever thread the scheduler runs next.
    @SuppressWarnings("ThreadPriorityCheck")
    private boolean spin(long end) {
        var virtual = Thread.currentThread().isVirtual();
        do {
            if (ended || (source.ready() & events) != 0) {
                return true;
            }
            if (virtual) {
                Thread.yield();
            } else {
                Thread.onSpinWait();
            }
        } while (System.nanoTime() - end < 0);
        return false;
    }

    private boolean park(Deadline deadline) {
        var thread = Thread.currentThread();
        var parker = source.parker(events);
        try {
            parked = parker;
            source.add(listener);
            while (true) {
                if (ended || thread.isInterrupted() || source.readyOrArmed(events, true) != 0) {
                    return true;
                }
                if (deadline.hasPassed()) {
                    return false;
                }
                parker.park(deadline);
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
        var parker = parked;
        if (parker != null) {
            parker.wakeUp();
        }
    }
}
