package org.jrdma.sockets.sisci;

import java.util.concurrent.atomic.AtomicInteger;

/** The events of poll(2) for which threads of this end of a stream sleep. */
final class SleepingThreads {

    private final AtomicInteger events = new AtomicInteger();

    /** Threads sleep until these events; returns those for which none slept before. */
    int sleep(int awaited) {
        return awaited & ~events.getAndAccumulate(awaited, (before, added) -> before | added);
    }

    /** Whether any thread sleeps. */
    boolean areThere() {
        return events.get() != 0;
    }

    /**
     * Threads no longer sleep until these events; returns whether any did. Writes nothing if none
     * did, since a thread may be about to sleep.
     */
    boolean wake(int happened) {
        return (events.get() & happened) != 0
                && (events.getAndAccumulate(happened, (before, gone) -> before & ~gone) & happened)
                        != 0;
    }
}
