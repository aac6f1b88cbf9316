package org.jrdma.spark;

import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The registered buffers of this executor into which blocks are read. Their memory is released when
 * no thread fetches blocks. Safe for use by multiple threads.
 */
final class BlockBuffers {

    /** The length of the pieces of a block that is read into a file, unless the pool is small. */
    static final long PIECE_BYTES = 4 << 20;

    /** Several blocks are read at the same time, so a piece must not use most of the pool. */
    private static final int MIN_PIECES = 4;

    private final BufferPool pool;
    private final AtomicInteger fetchers = new AtomicInteger();

    BlockBuffers(BufferPool pool, ShuffleMetrics metrics) {
        this.pool = pool;
        metrics.define(Metric.BUFFER_BYTES, () -> pool.statistics().registeredBytes());
        metrics.define(Metric.BUFFER_BYTES_USED, () -> pool.statistics().usedBytes());
    }

    /** The maximum length of a buffer. The pool rounds lengths up by at most a quarter. */
    long maxBlockBytes() {
        return pool.statistics().maxBytes() / 5 * 4;
    }

    /** The maximum length of the pieces in which a block is read into a file. */
    long pieceBytes() {
        return Math.min(PIECE_BYTES, maxBlockBytes() / MIN_PIECES);
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

    /** Records that a thread starts to fetch blocks. */
    void fetcherStarted() {
        fetchers.incrementAndGet();
    }

    /** Records that a thread has ended, because it was idle for a while or has failed. */
    void fetcherEnded() {
        fetchers.decrementAndGet();
        trimIfUnused();
    }

    /**
     * Releases the memory of idle buffers if no thread fetches blocks. Also called at the end of a
     * task, which may return buffers long after their blocks were fetched.
     */
    void trimIfUnused() {
        if (fetchers.get() == 0) {
            pool.trim();
        }
    }
}
