package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;

/**
 * A buffer of posted writes: memory that a program stores into. Stores are found by polling, since
 * no event reports them.
 */
abstract sealed class WriteBuffer permits CombiningWriteBuffer, InterruptingWriteBuffer {

    final RemoteMemory target;

    WriteBuffer(RemoteMemory target) {
        this.target = target;
    }

    /** Looks for stores, periodically. */
    abstract void poll();

    /** Delivers all stores before this call. */
    abstract void flush();

    /** Delivers a copy of memory, also where it is equal to the buffer. */
    abstract void copyFrom(MemorySegment source, long position);

    /** Memory was copied to the target without this buffer. */
    abstract void bypassed(MemorySegment source, long targetOffset);

    /** The link was cut or restored. */
    abstract void reset();

    /** Ends the delivery. */
    abstract void close();
}
