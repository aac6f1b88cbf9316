package org.jrdma.sockets.sisci;

import java.util.concurrent.atomic.AtomicInteger;

/** The events of poll(2) for which threads of one end of a stream sleep. */
final class SleepingThreads {

    private final AtomicInteger events = new AtomicInteger();

    /**
     * Records that threads sleep until these events; returns the events for which no thread slept
     * before.
     */
    int sleep(int awaited) {
        return awaited & ~events.getAndAccumulate(awaited, (before, added) -> before | added);
    }

    boolean isAny() {
        return events.get() != 0;
    }

    /**
     * Records that threads no longer sleep for these events; returns true if threads did. If no
     * thread slept for them, nothing is written, because another thread may be about to sleep.
     */
    boolean wake(int occurred) {
        return (events.get() & occurred) != 0
                && (events.getAndAccumulate(occurred, (before, removed) -> before & ~removed)
                                & occurred)
                        != 0;
    }
}
