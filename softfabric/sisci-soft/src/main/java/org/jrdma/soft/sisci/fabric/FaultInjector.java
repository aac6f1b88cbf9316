package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** The faults and the address window of a process. Safe for use by multiple threads. */
public final class FaultInjector {

    private final boolean weakMemory;
    private final Duration delay;
    private final AtomicInteger refusals;
    private final AtomicLong windowLeft;

    /**
     * The faults of a process that joins a fabric.
     *
     * @param weakMemory true if posted writes arrive only at a flush or a barrier, in random order
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

    /** Returns true if the next connect must fail, and counts it. */
    boolean refusesConnect() {
        return refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }

    /** Reserves a part of the address window of the adapters. */
    void reserveWindow(long bytes) {
        if (windowLeft.addAndGet(-bytes) < 0) {
            windowLeft.addAndGet(bytes);
            throw new SciException(
                    SCI_ERR_HW_NOSPC(),
                    "The address window of the adapters is full. Set its size with -Djrdma.sisci.mapbytes.");
        }
    }

    void releaseWindow(long bytes) {
        windowLeft.addAndGet(bytes);
    }
}
