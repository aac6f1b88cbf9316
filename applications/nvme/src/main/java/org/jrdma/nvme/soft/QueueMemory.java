package org.jrdma.nvme.soft;

import java.lang.foreign.MemorySegment;
import org.jrdma.nvme.model.AsyncEvent;
import org.jrdma.soft.sisci.device.DeviceBus;

/**
 * The memory of a queue. The link to it can be cut and restored: after a failed access, the memory
 * is accessed again after a pause.
 */
final class QueueMemory {

    private static final long RETRY_NANOS = 10_000_000;

    private final DeviceBus bus;
    private final AsyncEvents events;
    private final long address;
    private boolean failed;
    private long lastFailure;

    QueueMemory(DeviceBus bus, AsyncEvents events, long address) {
        this.bus = bus;
        this.events = events;
        this.address = address;
    }

    /** Returns false for some time after a failed access. */
    boolean isAccessDue() {
        return !failed || System.nanoTime() - lastFailure >= RETRY_NANOS;
    }

    /** Reads an entry. Returns false if the memory is not accessible. */
    boolean read(long offset, MemorySegment target) {
        return record(bus.read(address + offset, target));
    }

    /** Writes an entry. Returns false if the memory is not accessible. */
    boolean write(long offset, MemorySegment source) {
        return record(bus.write(address + offset, source));
    }

    private boolean record(boolean succeeded) {
        if (!succeeded) {
            lastFailure = System.nanoTime();
            if (!failed) {
                events.add(AsyncEvent.PERSISTENT_ERROR);
            }
        }
        failed = !succeeded;
        return succeeded;
    }
}
