package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The faults to inject into a process, and the limit of the memory that it maps. Safe for multiple
 * threads.
 */
public final class FaultInjector {

    private final boolean weakMemory;
    private final Duration delay;
    private final AtomicInteger refusals;
    private final AtomicLong windowLeft;

    /**
     * The faults of a process that joins a fabric.
     *
     * @param weakMemory whether posted writes arrive in no order, at a flush or a barrier only
     * @param delay the delay of each callback and each DMA transfer
     * @param refusals the number of connects to segments of this process that fail at first
     * @param mapBytes the bytes of remote segments that the process can map at a time
     */
    public FaultInjector(boolean weakMemory, Duration delay, int refusals, long mapBytes) {
        this.weakMemory = weakMemory;
        this.delay = delay;
        this.refusals = new AtomicInteger(refusals);
        this.windowLeft = new AtomicLong(mapBytes);
    }

    boolean weakMemory() {
        return weakMemory;
    }

    Duration delay() {
        return delay;
    }

    /** Returns true if the next connect is to fail, and counts it. */
    boolean refusesConnect() {
        return refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }

    /** Takes a part of the window of the adapters. */
    void reserveWindow(long bytes) {
        if (windowLeft.addAndGet(-bytes) < 0) {
            windowLeft.addAndGet(bytes);
            throw new SciException(
                    SCI_ERR_HW_NOSPC(),
                    "The window of the adapters is full; jrdma.sisci.mapbytes says how large it is.");
        }
    }

    void releaseWindow(long bytes) {
        windowLeft.addAndGet(bytes);
    }
}
