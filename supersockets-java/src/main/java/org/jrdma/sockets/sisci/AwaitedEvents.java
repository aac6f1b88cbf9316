package org.jrdma.sockets.sisci;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The events of poll(2) for which threads of one end of a stream sleep, and which of these threads
 * can receive the wake-ups of this process themselves; see {@link IncomingWakeUps}.
 */
final class AwaitedEvents {

    /** The bit offset of the events whose threads receive wake-ups. */
    private static final int RECEIVERS = 16;

    private final AtomicInteger events = new AtomicInteger();

    /** True if the last wake-up has failed, so that the next one must be performed. */
    private volatile boolean hasFailed;

    /**
     * Records that threads sleep until one of the events occurs. Returns those of the events for
     * which no thread slept before.
     *
     * @param receives true if the threads can receive the wake-ups of this process
     */
    int add(int awaited, boolean receives) {
        var before =
                events.getAndUpdate(now ->
                        (receives ? now | awaited << RECEIVERS : now & ~(awaited << RECEIVERS))
                                | awaited);
        return awaited & ~before;
    }

    boolean isAny() {
        return events.get() != 0;
    }

    /** Returns true if a thread sleeps that cannot receive the wake-ups of this process. */
    boolean needReceiver() {
        var now = events.get();
        return (now & ~(now >>> RECEIVERS) & (1 << RECEIVERS) - 1) != 0;
    }

    /**
     * Records that no thread sleeps for the events any more. Returns true if a thread did.
     * Otherwise, nothing is written, because another thread may be about to sleep.
     */
    boolean remove(int occurred) {
        return (events.get() & occurred) != 0
                && (events.getAndUpdate(now -> now & ~(occurred | occurred << RECEIVERS))
                                & occurred)
                        != 0;
    }

    /**
     * Wakes up the threads of this end if one of them sleeps for the events, or if the last call
     * has failed.
     */
    void wakeUp(int occurred, Runnable wakeUp) {
        if (!remove(occurred) && !hasFailed) {
            return;
        }
        hasFailed = false;
        try {
            wakeUp.run();
        } catch (Throwable e) {
            hasFailed = true;
            throw e;
        }
    }
}
