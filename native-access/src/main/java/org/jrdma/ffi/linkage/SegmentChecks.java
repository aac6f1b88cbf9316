package org.jrdma.ffi.linkage;

import java.lang.foreign.MemorySegment;

/** Checks of the memory segments that a program passes to an API method. */
public final class SegmentChecks {

    private SegmentChecks() {}

    /**
     * Fails if the memory of a segment was freed, or if only another thread can access it.
     *
     * @throws IllegalStateException if the memory was freed
     * @throws WrongThreadException if the segment belongs to another thread
     */
    public static void checkAccessible(MemorySegment segment) {
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("The memory segment is closed: " + segment);
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new WrongThreadException(
                    "The memory segment belongs to another thread: " + segment);
        }
    }
}
