package org.jrdma.spark;

import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The registered buffers of this executor into which blocks are read. Safe for use by multiple
 * threads.
 */
final class BlockBuffers {

    private final BufferPool pool;

    BlockBuffers(BufferPool pool, ShuffleMetrics metrics) {
        this.pool = pool;
        metrics.define(Metric.BUFFER_BYTES, () -> pool.statistics().registeredBytes());
        metrics.define(Metric.BUFFER_BYTES_USED, () -> pool.statistics().usedBytes());
    }

    /** The maximum length of a buffer. The pool rounds lengths up by at most a quarter. */
    long maxBlockBytes() {
        return pool.statistics().maxBytes() / 5 * 4;
    }

    /**
     * Takes a buffer.
     *
     * @return null if the pool is exhausted
     * @throws VerbsException if a new buffer cannot be registered
     */
    @Nullable PooledBuffer tryTake(long bytes) throws VerbsException {
        return pool.tryTake(bytes);
    }
}
