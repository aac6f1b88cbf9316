package org.jrdma.soft.sisci.fabric;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * The write buffers of a process, and the thread that polls them, which runs while buffers exist.
 */
final class WriteBufferFlusher {

    private static final long PERIOD_NANOS = 200_000;

    private final List<WriteBuffer> buffers = new CopyOnWriteArrayList<>();
    private boolean running;

    synchronized void add(WriteBuffer buffer) {
        buffers.add(buffer);
        if (!running) {
            running = true;
            Thread.ofPlatform().daemon().name("sisci-soft-write-buffers").start(this::run);
        }
    }

    /** Flushes and removes a buffer. The memory of the buffer is not accessed after this call. */
    void remove(WriteBuffer buffer) {
        buffer.flush();
        buffer.close();
        buffers.remove(buffer);
    }

    /** Flushes all buffers in random order. */
    void flush() {
        if (!buffers.isEmpty()) { // avoids an allocation on this hot path
            var all = buffers.toArray(WriteBuffer[]::new);
            RandomOrder.visit(all.length, i -> all[i].flush());
        }
    }

    /** Handles a copy to a remote memory that bypassed its buffers. */
    void bypassed(RemoteMemory target, MemorySegment source, long offset) {
        for (var buffer : buffers) {
            if (buffer.target == target) {
                buffer.bypassed(source, offset);
            }
        }
    }

    /** Resets the buffers of a remote memory, because the link to it was cut or restored. */
    void reset(RemoteMemory target) {
        for (var buffer : buffers) {
            if (buffer.target == target) {
                buffer.reset();
            }
        }
    }

    private void run() {
        while (hasBuffers()) {
            buffers.forEach(WriteBuffer::poll);
            LockSupport.parkNanos(PERIOD_NANOS);
        }
    }

    private synchronized boolean hasBuffers() {
        running = !buffers.isEmpty();
        return running;
    }
}
