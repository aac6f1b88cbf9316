package org.jrdma.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A registered buffer of a {@link BufferPool}, with a reference count.
 *
 * <p>The buffer has one reference when it is taken from the pool. {@link #retain()} adds a
 * reference, and {@link #release()} removes one. When the last reference is released, the buffer
 * returns to the pool. Then all methods throw IllegalStateException, and the program must not use
 * the slices and segments of the buffer any more, because the pool may have passed their memory to
 * another user. In particular, no request that uses the buffer may be in flight. Safe for use by
 * multiple threads.
 */
public final class PooledBuffer {

    private final BufferPool pool;
    private final BufferPool.Block block;
    private final long length;
    private final AtomicInteger references = new AtomicInteger(1);

    PooledBuffer(BufferPool pool, BufferPool.Block block, long length) {
        this.pool = pool;
        this.block = block;
        this.length = length;
    }

    /** The length in bytes with which the buffer was taken. */
    public long length() {
        return length;
    }

    /** The memory of the buffer. It contains the data of its previous use. */
    public MemorySegment segment() {
        checkReferenced();
        return block.region().segment().asSlice(0, length);
    }

    /** Returns a slice of the whole buffer, for a work request. */
    public MemorySlice slice() {
        return slice(0, length);
    }

    /**
     * Returns a slice of a part of the buffer, for a work request.
     *
     * @throws IndexOutOfBoundsException if the part is not within the buffer
     */
    public MemorySlice slice(long offset, long bytes) {
        checkReferenced();
        Objects.checkFromIndexSize(offset, bytes, length);
        return block.region().slice(offset, bytes);
    }

    private void checkReferenced() {
        if (references.get() <= 0) {
            throw released();
        }
    }

    private IllegalStateException released() {
        return new IllegalStateException(
                "A buffer of the %s was used after its last reference was released"
                        .formatted(pool));
    }

    /**
     * Adds a reference.
     *
     * @throws IllegalStateException if the last reference was released
     */
    public PooledBuffer retain() {
        if (references.getAndUpdate(count -> count <= 0 ? 0 : Math.incrementExact(count)) <= 0) {
            throw released();
        }
        return this;
    }

    /**
     * Releases a reference. When the last reference is released, the buffer returns to its pool.
     *
     * @return true if this was the last reference
     * @throws IllegalStateException if the last reference was released before
     */
    public boolean release() {
        var before = references.getAndUpdate(count -> Math.max(0, count - 1));
        if (before <= 0) {
            throw released();
        }
        if (before == 1) {
            pool.release(block);
        }
        return before == 1;
    }

    @Override
    public String toString() {
        return "buffer of %d bytes of the %s".formatted(length, pool);
    }
}
