package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.linkage.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The write buffers of a process, and the thread that polls them, which runs while buffers exist.
 */
final class WriteBufferFlusher {

    private static final Logger LOG = LoggerFactory.getLogger(WriteBufferFlusher.class);
    private static final long PERIOD_NANOS = 200_000;

    private final List<WriteBuffer> buffers = new CopyOnWriteArrayList<>();
    private boolean running;

    synchronized void add(WriteBuffer buffer) {
        if (!running) {
            Thread.ofPlatform().daemon().name("sisci-soft-write-buffers").start(this::run);
            running = true;
        }
        buffers.add(buffer);
    }

    /** Flushes and removes a buffer. The memory of the buffer is not accessed after this call. */
    void remove(WriteBuffer buffer) {
        buffer.flush();
        buffer.close();
        buffers.remove(buffer);
    }

    /** Flushes all buffers in random order. */
    void flush() {
        if (!buffers.isEmpty()) { // This loop avoids an allocation on the hot path.
            var all = buffers.toArray(WriteBuffer[]::new);
            RandomOrder.visit(all.length, i -> all[i].flush());
        }
    }

    /** Takes account of a copy to a remote memory that has bypassed its buffers. */
    void bypassed(SegmentLink target, MemorySegment source, long offset) {
        for (var buffer : buffers) {
            if (buffer.target == target) {
                buffer.bypassed(source, offset);
            }
        }
    }

    /** Resets the buffers of a remote memory, because the link to it was cut or restored. */
    void reset(SegmentLink target) {
        for (var buffer : buffers) {
            if (buffer.target == target) {
                buffer.reset();
            }
        }
    }

    private void run() {
        while (hasBuffers()) {
            for (var buffer : buffers) {
                try {
                    buffer.poll();
                } catch (Throwable e) {
                    // The thread continues after a failure, because it delivers the stores of all
                    // buffers.
                    FailureLog.errorAndPause(LOG, "Could not deliver the stores into a map", e);
                }
            }
            LockSupport.parkNanos(PERIOD_NANOS);
        }
    }

    private synchronized boolean hasBuffers() {
        running = !buffers.isEmpty();
        return running;
    }
}
