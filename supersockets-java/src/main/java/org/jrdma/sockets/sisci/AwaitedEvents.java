package org.jrdma.sockets.sisci;

import java.util.concurrent.atomic.AtomicInteger;

/** The events of poll(2) for which threads of one end of a stream sleep. */
final class AwaitedEvents {

    private final AtomicInteger events = new AtomicInteger();

    /**
     * Records that threads sleep until one of the events occurs. Returns those of the events for
     * which no thread slept before.
     */
    int add(int awaited) {
        return awaited & ~events.getAndAccumulate(awaited, (before, added) -> before | added);
    }

    boolean isAny() {
        return events.get() != 0;
    }

    /**
     * Records that no thread sleeps for the events any more. Returns true if a thread did.
     * Otherwise, nothing is written, because another thread may be about to sleep.
     */
    boolean remove(int occurred) {
        return (events.get() & occurred) != 0
                && (events.getAndAccumulate(occurred, (before, removed) -> before & ~removed)
                                & occurred)
                        != 0;
    }
}
