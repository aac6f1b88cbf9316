package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;

/** A buffer of posted writes: memory whose stores are detected by polling. */
abstract sealed class WriteBuffer permits CombiningWriteBuffer, InterruptingWriteBuffer {

    final RemoteMemory target;

    WriteBuffer(RemoteMemory target) {
        this.target = target;
    }

    /** Delivers or detects stores. Called periodically. */
    abstract void poll();

    /** Delivers all stores before this call. */
    abstract void flush();

    /** Delivers a copy of memory, including bytes that are equal to the buffer. */
    abstract void copyFrom(MemorySegment source, long position);

    /** Handles a copy to the target that bypassed this buffer. */
    abstract void bypassed(MemorySegment source, long targetOffset);

    /** Resets the buffer after a link was cut or restored. */
    abstract void reset();

    /** Ends the delivery. */
    abstract void close();
}
