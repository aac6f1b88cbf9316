package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;

/**
 * A buffer for posted writes. The program stores into the memory of the buffer, and polls detect
 * the stores.
 */
abstract sealed class WriteBuffer permits CombiningWriteBuffer, InterruptingWriteBuffer {

    final RemoteMemory target;

    WriteBuffer(RemoteMemory target) {
        this.target = target;
    }

    /** Delivers stores, or updates the buffer from the segment. Called periodically. */
    abstract void poll();

    /** Delivers all stores that happened before this call. */
    abstract void flush();

    /**
     * Copies {@code source} to the target, at a position in this buffer. The copy includes bytes
     * that are equal to the contents of the buffer.
     */
    abstract void copyFrom(MemorySegment source, long position);

    /** Handles a copy to the target that bypassed this buffer. */
    abstract void bypassed(MemorySegment source, long targetOffset);

    /** Resets the buffer after a link was cut or restored. */
    abstract void reset();

    /** Stops the delivery of stores permanently. */
    abstract void close();
}
