package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Decides about the faults that this process injects, and counts the address window of its adapters
 * that is in use. Safe for use by multiple threads.
 */
public final class FaultInjector {

    private final boolean weakMemory;
    private final Duration delay;
    private final AtomicInteger refusals;
    private final AtomicLong windowLeft;

    /**
     * Creates the faults of a process that joins a fabric.
     *
     * @param weakMemory true if posted writes arrive only at a flush or a barrier, in random order
     * @param delay the delay before each callback of the program and before each DMA transfer
     * @param refusals the number of connect requests to segments of this process that are refused
     *     before the first one is accepted
     * @param mapBytes the total size of the remote segments that this process can map at the same
     *     time
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

    /**
     * Returns true if the current connect request must be refused because of {@code refusals}, and
     * counts the refusal.
     */
    boolean refusesConnect() {
        return refusals.getAndUpdate(left -> Math.max(0, left - 1)) > 0;
    }

    /** Reserves a part of the address window of the adapters. Fails if the window is full. */
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
