package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;

/**
 * Buffers the stores through a map of a remote segment, which arrive later like posted writes of
 * hardware. The program stores into the memory of the buffer, and polls detect the stores.
 */
abstract sealed class WriteBuffer permits CombiningWriteBuffer, InterruptingWriteBuffer {

    final SegmentLink target;

    WriteBuffer(SegmentLink target) {
        this.target = target;
    }

    /**
     * Delivers new stores to the target, or copies changes of the segment to the buffer. Called
     * periodically.
     */
    abstract void poll();

    /** Delivers all stores that happened before this call. */
    abstract void flush();

    /**
     * Copies {@code source} directly to the target. All bytes are copied, including those that are
     * equal to the contents of the buffer.
     *
     * @param position the position in this buffer that corresponds to the first byte
     */
    abstract void copyFrom(MemorySegment source, long position);

    /** Takes account of a copy to the target that has bypassed this buffer. */
    abstract void bypassed(MemorySegment source, long targetOffset);

    /** Resets the buffer after a link was cut or restored. */
    abstract void reset();

    /** Stops the delivery of stores permanently. */
    abstract void close();
}
