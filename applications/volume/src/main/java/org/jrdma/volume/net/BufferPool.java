package org.jrdma.volume.net;

import java.util.ArrayDeque;
import org.jrdma.ffi.FabricException;

/**
 * Buffers of one connection that are used again, because their registration takes longer than a
 * call. The sizes are powers of two. Safe for use by multiple threads.
 */
final class BufferPool {

    private static final int MIN_BYTES = 64 << 10;

    private final NodeConnection connection;
    private final int capacity;

    /** The free buffers; the last one was used most recently. */
    private final ArrayDeque<NodeBuffer> free = new ArrayDeque<>();

    /**
     * @param capacity the maximum number of free buffers
     */
    BufferPool(NodeConnection connection, int capacity) {
        this.connection = connection;
        this.capacity = capacity;
    }

    /** Returns a buffer of at least the given size. The caller must give it back or close it. */
    NodeBuffer take(int bytes) throws FabricException {
        var size = Math.max(MIN_BYTES, Integer.highestOneBit(bytes - 1) << 1);
        synchronized (this) {
            for (var buffers = free.descendingIterator(); buffers.hasNext(); ) {
                var buffer = buffers.next();
                if (buffer.byteSize() == size) {
                    buffers.remove();
                    return buffer;
                }
            }
        }
        return connection.newBuffer(size);
    }

    /** Takes back a buffer that no call uses. */
    void giveBack(NodeBuffer buffer) {
        NodeBuffer surplus = null;
        synchronized (this) {
            free.addLast(buffer);
            if (free.size() > capacity) {
                surplus = free.removeFirst();
            }
        }
        if (surplus != null) {
            surplus.close();
        }
    }
}
